"""What ELF files hold: reads records out of them and judges nothing."""
