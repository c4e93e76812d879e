-- What time it is: returns {now, ahead} (_clock.lua). Cost O(1). A script, as the clock has but one reading.

return cmsgpack.pack({ clock.now, clock.ahead })
