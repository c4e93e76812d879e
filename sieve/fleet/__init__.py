"""The kind of a fleet, ``redis:``: its lists, scripts and flush lease in Redis, who holds it, who decides."""
