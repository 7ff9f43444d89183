"""Cell magics: a notebook's cell as a model's reply, or as messages told in a dialect.

`magics.py` has them. IPython comes with the extra `[notebook]`.
"""
