"""Ways in which a text is changed before it is used, as expressions of `text`: values of a mistake's placeholder."""

CHANGED = (
    "text.lower()",
    "text.strip()",
    '" ".join(text.split())',
    '"".join(text.splitlines())',
    '"\\n".join(text.splitlines())',
    'text.replace("\\r\\n", "\\n")',
    '__import__("unicodedata").normalize("NFC", text)',
)
