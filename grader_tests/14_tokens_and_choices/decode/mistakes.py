"""Known mistakes in `decode`."""

from ...shared.families import arguments, results
from .contract import decode

TEXT, ODD, ERROR, FORM = "the text", "bytes that", "ValueError", "a tensor"

right = decode.reference_answer("""
def decode(ids, merges):
    pieces = [bytes([i]) for i in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    found = b""
    for i in ids:
        i = int(i)
        if i < 0 or i >= len(pieces):
            raise ValueError(f"ids has the id {i}, and there are {len(pieces)}")
        found += pieces[i]
    return found.decode("utf-8", errors="replace")
""")

right.mistake("decodes_each_piece_alone", loses=(TEXT, ODD)).patch("""
- found = b""
+ found = ""
@@
- found += pieces[i]
+ found += pieces[i].decode("utf-8", errors="replace")
@@
- return found.decode("utf-8", errors="replace")
+ return found
""").feedback(
    "You turn each token into text alone. A character may be cut into several tokens, so put all bytes together first."
)
right.mistake("decodes_each_byte_alone", loses=TEXT).patch("""
- return found.decode("utf-8", errors="replace")
+ return "".join(HOW for i in found)
""").for_each(
    HOW=("chr(i)", 'bytes([i]).decode("utf-8", "replace")', 'bytes([i]).decode("cp1252", "replace")')
).feedback(
    "You turn each byte into a character alone, as encodings of one byte per character do. In UTF-8 many characters "
    "have several bytes: decode all of them together."
)
right.mistake("uses_another_encoding", {'found.decode("utf-8"': "found.decode(CODE"}, loses=TEXT).for_each(
    CODE=('"utf-16"', '"utf-16-be"')
).feedback("You decode with an encoding other than UTF-8.")
right.mistake("fails_for_half_a_character", {', errors="replace"': ""}, loses=ODD).feedback(
    "Your function raises UnicodeDecodeError for bytes that are not UTF-8. A model may write half a character: replace "
    "it by `�`, as `errors` can."
)
right.mistake("treats_odd_bytes_otherwise", {'errors="replace"': "errors=HOW"}, loses=ODD).for_each(
    HOW=('"ignore"', '"backslashreplace"')
).feedback('You do not replace bytes that are not UTF-8 by `�`. That is what `errors="replace"` does.')
right.mistake(
    "writes_question_marks", {'errors="replace")': 'errors="replace").replace("\\ufffd", "?")'}, loses=ODD
).feedback("You write a question mark for bytes that are not UTF-8. They become the character `�`, U+FFFD.")
right.mistake("one_mark_for_several", loses=ODD, clause="broken").patch("""
- return found.decode("utf-8", errors="replace")
+ import re
+ return re.sub("\\ufffd+", "\\ufffd", found.decode("utf-8", errors="replace"))
""").feedback('You write one `�` for several wrong bytes in a row. Leave it to `errors="replace"` how many there are.')
right.mistake("refuses_odd_bytes", loses=ODD).patch("""
- return found.decode("utf-8", errors="replace")
+ try:
+     return found.decode("utf-8")
+ except UnicodeDecodeError:
+     return WHOLE
""").for_each(WHOLE=('""', '"\\ufffd"', 'found.decode("latin-1")')).feedback(
    "You replace the whole text if some of its bytes are not UTF-8. Only those bytes become `�`."
)
right.mistake(
    "second_part_first", {"pieces[left] + pieces[right]": "pieces[right] + pieces[left]"}, loses=TEXT
).feedback("You put the second part of a pair first. A piece is the first id's bytes and then the second's.")
right.mistake("one_part_only", {"pieces[left] + pieces[right]": "PART"}, loses=TEXT).for_each(
    PART=("pieces[left]", "pieces[right]")
).feedback("You keep only one of the two parts of a pair.")
right.mistake(
    "takes_ids_for_bytes", {"pieces[left] + pieces[right]": "bytes([left % 256, right % 256])"}, loses=TEXT
).feedback("You take both ids of a pair for bytes. An id from 256 on is itself made of a pair: take its whole piece.")
decode.mistake("goes_one_level_deep", loses=TEXT).full_code("""
def decode(ids, merges):
    found = []
    for i in ids:
        i = int(i)
        if i < 0 or i >= 256 + len(merges):
            raise ValueError(f"ids has the id {i}")
        found += [i] if i < 256 else PARTS
    return bytes(found).decode("utf-8", errors="replace")
""").for_each(
    PARTS=(
        "[part for part in merges[i - 256] if part < 256]",
        "[min(part, 255) for part in merges[i - 256]]",
        "[part % 256 for part in merges[i - 256]]",
        "list(merges[i - 256])",
    )
).feedback("You take a merge apart only once. Its parts may be merges themselves: go on until only bytes are left.")
right.mistake("numbers_the_merges_otherwise", {"found += pieces[i]": "found += pieces[NUMBER]"}, loses=TEXT).for_each(
    NUMBER=(
        "min(i + 1, len(pieces) - 1) if i > 255 else i",
        "i - 1 if i > 256 else i",
        "i if i < 256 else 256 + (i - 257) % len(merges)",
    )
).feedback("You take the wrong merge for an id. Merge m, counted from 0, has the id 256 + m.")
right.mistake("puts_gaps_between", loses=TEXT).patch("""
- found += pieces[i]
+ found += (b" " if found else b"") + pieces[i]
""").feedback("You put a space between tokens. Spaces are in the tokens themselves: join without a gap.")
right.mistake(
    "cleans_the_text",
    {"return found.decode(": "text = found.decode(", 'errors="replace")': 'errors="replace")\n    return CLEAN'},
    loses=TEXT,
).for_each(CLEAN=("text.strip()", '" ".join(text.split())', "text.lower()", 'text.replace("\\r\\n", "\\n")')).feedback(
    "You change the decoded text. Spaces, capitals and line ends stay as they are."
)
right.mistake("returns_bytes", {'return found.decode("utf-8", errors="replace")': "return RAW"}, loses=TEXT).for_each(
    RAW=("found", "str(found)", "list(found)", "repr(found)[2:-1]")
).feedback("You return bytes, or how Python prints them. Return a string: decode the bytes.")
right.mistake(
    "returns_a_list_of_pieces",
    {"return found.decode(": "return [bytes([i]).decode(", 'errors="replace")': 'errors="replace") for i in found]'},
    loses=TEXT,
).feedback("You return a list of pieces. Return one string.")
right.mistake("drops_ids_that_are_not_there", loses=ERROR).patch("""
- if i < 0 or i >= len(pieces):
-     raise ValueError(f"ids has the id {i}, and there are {len(pieces)}")
- found += pieces[i]
+ found += pieces[i] if 0 <= i < len(pieces) else INSTEAD
""").for_each(INSTEAD=('b""', 'b"?"', '"\\ufffd".encode()')).feedback(
    "You leave out or replace an id that does not exist. Raise a ValueError that names `ids` and the id."
)
right.mistake(
    arguments.not_refused("You do not refuse ids that do not exist. Raise a ValueError that names `ids` and the id."),
    loses=ERROR,
)
right.mistake("takes_negative_ids", {"i < 0 or i >=": "i >="}, loses=ERROR, clause="unknown").feedback(
    "You accept negative ids. Python counts them from the end of a list, so they give some piece: refuse them."
)
right.mistake("takes_ids_that_are_too_large", {"i < 0 or i >= len(pieces)": "i < 0"}, loses=ERROR).feedback(
    "You do not refuse ids above the last one, so the error is an IndexError or a KeyError. Raise a ValueError."
)
right.mistake("takes_one_id_too_many", {"i >= len(pieces)": "i > len(pieces)"}, loses=ERROR).feedback(
    "You accept the first id after the last merge. Ids count from 0, so with n pieces the last is n - 1."
)
right.mistake(
    arguments.valid_refused("refuses_the_last_id"), {"i >= len(pieces)": "i >= len(pieces) - 1"}, loses=(TEXT, ERROR)
).feedback("You refuse the last id. With n pieces the ids are 0 to n - 1.")
right.mistake(
    arguments.valid_refused("refuses_bytes_above_127"),
    {"i < 0 or i >= len(pieces)": "i < 0 or 127 < i < 256 or i >= len(pieces)"},
    loses=(TEXT, ODD),
).feedback("You refuse single bytes above 127. Every byte is an id.")
right.mistake("looks_at_one_id_only", loses=ERROR).patch("""
- found = b""
- for i in ids:
-     i = int(i)
-     if i < 0 or i >= len(pieces):
-         raise ValueError(f"ids has the id {i}, and there are {len(pieces)}")
-     found += pieces[i]
+ if len(ids) and not 0 <= int(ids[WHICH]) < len(pieces):
+     raise ValueError(f"ids has the id {int(ids[WHICH])}")
+ found = b""
+ for i in ids:
+     found += pieces[int(i)] if int(i) < len(pieces) else b""
""").for_each(WHICH=("0", "-1")).feedback("You check only one of the ids. Check all of them.")
right.mistake("fails_without_ids", loses=TEXT).patch("""
- found = b""
- for i in ids:
+ found = b""
+ if len(ids) == 0:
+     raise ValueError("ids is empty")
+ for i in ids:
""").feedback("You refuse a list without ids. Its text is the empty string.")
right.mistake(arguments.asserts(), loses=ERROR)
right.mistake(arguments.wrong_error("IndexError"), loses=ERROR)
right.mistake(arguments.error_without_name(), loses=ERROR)
decode.mistake("fails_for_a_tensor", loses=FORM, clause="tensor").full_code("""
def decode(ids, merges):
    pieces = {i: bytes([i]) for i in range(256)}
    for m, (left, right) in enumerate(merges):
        pieces[256 + m] = pieces[left] + pieces[right]
    for i in ids:
        if i not in pieces:
            raise ValueError(f"ids has the id {int(i)}, which does not exist")
    return b"".join(pieces[i] for i in ids).decode("utf-8", errors="replace")
""").feedback(
    "You look up tensors in a dict, which finds none of them, even if the number is there. Convert the ids to plain "
    "ints first."
)
right.mistake("takes_tensors_only", {"for i in ids:": "for i in ids.tolist():"}, loses=TEXT).feedback(
    "You take only a tensor of ids. `ids` may be a list, too, which has no `tolist`."
)
right.mistake(arguments.argument_changed("uses_up_the_ids", what="`ids`"), loses=FORM).patch("""
- for i in ids:
-     i = int(i)
+ ids = ids if isinstance(ids, list) else ids.tolist()
+ while ids:
+     i = ids.pop(0)
""").feedback("You take the ids out of the caller's list, so it is empty afterwards. Read them without `pop` or `del`.")
right.mistake(
    "drops_the_byte_order_mark", {'found.decode("utf-8", errors="replace")': "TEXT"}, loses=TEXT, clause="whole"
).for_each(
    TEXT=('found.decode("utf-8-sig", errors="replace")', 'found.decode("utf-8", errors="replace").lstrip("\\ufeff")')
).feedback(
    "You drop the character U+FEFF at the start of a text, as `utf-8-sig` does. It is a character like all others."
)
decode.mistake("lets_the_lookup_fail", loses=ERROR).full_code("""
def decode(ids, merges):
    pieces = {i: bytes([i]) for i in range(256)}
    for m, (left, right) in enumerate(merges):
        pieces[256 + m] = pieces[left] + pieces[right]
    return b"".join(PIECE for i in ids).decode("utf-8", errors="replace")
""").for_each(
    PIECE=(
        "pieces[int(i)]",
        "bytes([int(i)]) if i < 256 else pieces[int(i)]",
        "bytes([int(i)]) if i < 256 else b''.join(pieces[part] for part in merges[int(i) - 256])",
    )
).feedback(
    "You look up an id that does not exist, and leave the error as Python raises it. Raise a ValueError that names "
    "`ids` and the id."
)
right.mistake(arguments.wrong_error("KeyError"), loses=ERROR)
right.mistake(arguments.argument_changed("expands_the_ids_in_place", what="`ids`"), loses=FORM).patch("""
- return found.decode("utf-8", errors="replace")
+ if isinstance(ids, list):
+     at = 0
+     while at < len(ids):
+         if ids[at] > 255:
+             ids[at : at + 1] = merges[ids[at] - 256]
+         else:
+             at += 1
+ return found.decode("utf-8", errors="replace")
""").feedback("You take the merges apart in the caller's own list, so it holds other ids afterwards. Make a new list.")
right.mistake(results.nothing_returned, {"return found.decode(": "found.decode("}, loses=TEXT)
right.mistake("takes_int64_only", loses=FORM).patch("""
- found = b""
+ if isinstance(ids, torch.Tensor) and ids.dtype != torch.int64:
+     raise ValueError(f"ids is {ids.dtype}")
+ found = b""
""").feedback("You refuse a tensor of another integer dtype than int64. Any integer tensor is valid.")
right.mistake("looks_for_the_largest_of_nothing", loses=TEXT).patch("""
- found = b""
+ EMPTY
+ found = b""
""").for_each(EMPTY=("min(ids)", "max(ids)", "ids[0]")).feedback(
    "Your function fails for a list without ids, because `min`, `max` or `[0]` of nothing raises an error. Its text "
    "is the empty string."
)
right.mistake(
    "drops_nul_characters",
    {'found.decode("utf-8", errors="replace")': 'found.decode("utf-8", errors="replace").HOW'},
    loses=TEXT,
).for_each(HOW=('rstrip("\\0")', 'strip("\\0")', 'replace("\\0", "")')).feedback(
    "You take NUL characters for padding and drop them. They are characters of the text like all others."
)
right.mistake("one_mark_for_each_byte", loses=ODD).patch("""
- return found.decode("utf-8", errors="replace")
+ return "".join(c if c < "\\ud800" or c > "\\udfff" else "\\ufffd" for c in found.decode("utf-8", "surrogateescape"))
""").feedback(
    'You write one `�` for each wrong byte. `errors="replace"` writes one for several bytes that begin a character.'
)
decode.mistake("keeps_its_table", loses=TEXT).full_code("""
table = []


def decode(ids, merges):
    if len(table) != 256 + len(merges):
        table[:] = [bytes([i]) for i in range(256)]
        for left, right in merges:
            table.append(table[left] + table[right])
    for i in ids:
        if not 0 <= i < len(table):
            raise ValueError(f"ids has the id {i}")
    return b"".join(table[i] for i in ids).decode("utf-8", errors="replace")
""").feedback(
    "You keep the table of pieces from one call to the next, and use it again for other merges, if they are as many. "
    "Make it from `merges` in each call."
)
