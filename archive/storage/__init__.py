"""Bytes as stored: xz packs, gz members, zst frames, plain; unpacking that tells of damage; writes that last."""
