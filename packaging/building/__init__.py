"""What `packaging/build.py` is made of: one module for each thing that it makes."""
