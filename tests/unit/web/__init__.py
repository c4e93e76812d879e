"""The synthetic web is what it says, and its verifier finds what it must."""
