"""The commands of the command line, by what they are about; `cli.py` gathers them."""
