"""What every room stands on, and what knows nothing of this field: errors, findings, files,
characters, confined work, and how an answer finds its drawing.
"""
