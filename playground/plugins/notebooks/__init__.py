"""Cell magics: read a notebook's cell as a model's reply, or send it as messages in a dialect.

`magics.py` has them. IPython comes with the extra `[notebook]`.
"""
