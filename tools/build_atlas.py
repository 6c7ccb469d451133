#!/usr/bin/env python3
"""Cuts named pictures out of Noto Color Emoji into assets/atlas.png and assets/atlas.txt.

Run once, from the repository root, with Debian's fonts-noto-color-emoji, unicode-data and
python3-pil. Names come from Unicode's emoji-test.txt, groups that can be asked about only.
"""
import re
from PIL import Image, ImageDraw, ImageFont

CELL, COLUMNS = 64, 24
GROUPS = {
    "animal-mammal": "animal", "animal-bird": "animal", "animal-amphibian": "animal", "animal-reptile": "animal",
    "animal-marine": "animal", "animal-bug": "animal", "plant-flower": "plant", "plant-other": "plant",
    "food-fruit": "food", "food-vegetable": "food", "food-prepared": "food", "food-asian": "food",
    "food-marine": "food", "food-sweet": "food", "drink": "drink", "dishware": "thing",
    "place-building": "building", "transport-ground": "vehicle", "transport-water": "vehicle", "transport-air": "vehicle",
    "event": "thing", "sport": "sport", "game": "toy", "arts & crafts": "thing", "clothing": "clothing",
    "sound": "thing", "music": "thing", "musical-instrument": "instrument", "phone": "device", "computer": "device",
    "light & video": "device", "book-paper": "thing", "money": "thing", "mail": "thing", "writing": "thing",
    "office": "thing", "lock": "thing", "tool": "tool", "science": "tool", "medical": "thing", "household": "thing",
    "sky & weather": "weather", "hotel": "thing", "time": "thing",
}
# Names that a person would not use, or that look like another cut-out.
DROP = re.compile(r"face$|o.clock|-thirty|moon|inbox|outbox|roman|symbol|button|phase|with arrow|muted|speaker (low|medium)|"
                  r"no bell|open (file|book)|closed (mailbox|book)|lowered flag|raised flag|dark skin|receipt|ledger|bookmark|"
                  r"card (index|file)|dividers|linked|incoming|input|black nib|globe|cityscape|sunset|sunrise|bridge at|"
                  r"department|convenience|love hotel|hindu|shinto|kaaba|torii|seedling|sheaf|empty nest|wilted|"
                  r"rosette|white flower|oncoming|monorail|suspension|tramway|mountain (railway|cableway)|tram car|bus stop|"
                  r"railway track|oil drum|motorway|wheel$|joker|mahjong|flower playing|performing|framed|yarn|knot|"
                  r"sewing|prayer|military|rescue|women|women.s|man.s|running shirt|one-piece|briefs|shorts|"
                  r"musical (score|note|notes)|control knobs|level slider|studio|pager|fax|trackball|clapper|film frames|"
                  r"diya|scroll|page (with|facing)|newspaper|rolled|label|yen|euro|pound|wings|chart|credit|e-mail|love letter|"
                  r"envelope with|package$|ballot|crayon|memo|briefcase|folder|tear-off|spiral|clipboard|pushpin|straight|"
                  r"triangular|file cabinet|locked with|unlocked|old key|mirror|window|elevator|placard|moai|headstone|coffin|"
                  r"funeral|plunger|mouse trap|razor|lotion|safety pin|basket$|roll of|bubbles|identification|x-ray|"
                  r"petri|dna|alembic|blood|adhesive|stethoscope|crutch|pill$|carp|dolls|wind chime|red envelope|ribbon|reminder|"
                  r"admission|nazar|hamsa|piñata|pinata|mirror ball|nesting|spade suit|heart suit|diamond suit|club suit|"
                  r"front-facing|baby chick|hatching|two-hump|water buffalo|guide|service|black cat|black bird|fish cake|"
                  r"rice cracker|rice ball|cooked rice|oden|dango|bento|pot of food|shallow pan|fortune|takeout|tanabata|"
                  r"pine decoration|japanese|fleur|ringed|comet|cyclone|fog|tornado|cloud with (rain|snow|lightning)|"
                  r"sun behind|umbrella (on|with)|closed umbrella|droplet|water wave|high voltage|hourglass (not|done)|"
                  r"mantelpiece|stopwatch|timer|litter|bellhop|worm|feather|paw|beetle|microbe|web|leaf fluttering|herb|"
                  r"evergreen|deciduous|tangerine|bagel|flatbread|stuffed|ice$|mate|cup with|clinking|tumbler|pouring|jar|amphora|"
                  r"hut|derelict|construction|buildings|old$|post office|wood|brick|rock$|stadium|classical|bank|hotel|"
                  r"tilted|with flash|dvd|spouting|houses|snowman$|with slash|low battery|receiver|hammer and|pig nose|steaming|softball|"
                  r"cricket game|railway car|loudspeaker|postal horn|glowing|desktop|computer disk|game die|goblin|flag in|wedding|"
                  r"office building|high-speed|bullet|metro|light rail|station|delivery|articulated|pickup|auto rickshaw|"
                  r"manual|motorized|skateboard|ring buoy|departure|arrival|seat|passenger ship|motor boat|ferry|speedboat")
RENAME = {"dog face": "dog", "cat face": "cat", "automobile": "red car", "sport utility vehicle": "blue car",
          "horse face": "horse", "t-shirt": "t-shirt", "cooking": "fried egg", "doughnut": "donut", "snowman without snow": "snowman",
          "field hockey": "hockey stick", "ice hockey": "ice hockey stick", "lacrosse": "lacrosse stick", "tennis": "tennis racket", "badminton": "badminton racket", "ping pong": "table tennis bat", "bowling": "bowling ball", "locked": "padlock", "speaker high volume": "loudspeaker", "link": "chain link", "leafy green": "lettuce", "video game": "game controller", "pool 8 ball": "billiard ball"}

# Unicode files some things where nobody would look for them.
REGROUP = {name: group for group, names in {
    "seafood": ["crab", "lobster", "shrimp", "squid", "oyster"],
    "thing": ["wing", "coral", "fuel pump", "police car light", "horizontal traffic light", "vertical traffic light", "stop sign", "anchor", "nest with eggs", "mushroom"],
    "sport": ["roller skate"],
    "device": ["satellite"],
    "accessory": ["glasses", "sunglasses", "goggles", "folding hand fan", "purse", "handbag", "clutch bag", "shopping bags", "backpack", "hair pick", "lipstick", "ring", "gem stone", "crown"],
    "plant": ["christmas tree"],
}.items() for name in names}


def main():
    font = ImageFont.truetype("/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf", 109)
    found, sub = [], ""
    for line in open("/usr/share/unicode/emoji/emoji-test.txt", encoding="utf-8"):
        if line.startswith("# subgroup:"):
            sub = line.split(":")[1].strip()
        m = re.match(r"^([0-9A-F ]+?)\s*; fully-qualified\s+# \S+ E[\d.]+ (.+)$", line)
        if not m or sub not in GROUPS:
            continue
        codes = [int(c, 16) for c in m.group(1).split() if c != "FE0F"]
        name = RENAME.get(m.group(2), m.group(2)).lower()
        if len(codes) > 1 or DROP.search(m.group(2)) or not re.match(r"^[a-z0-9 -]+$", name):
            continue
        found.append((name, REGROUP.get(name, GROUPS[sub]), chr(codes[0])))
    cells = []
    for name, group, char in found:
        big = Image.new("RGBA", (160, 160))
        ImageDraw.Draw(big).text((12, 12), char, font=font, embedded_color=True)
        box = big.getbbox()
        if not box:
            continue
        cut = big.crop(box)
        scale = (CELL - 2) / max(cut.size)
        cut = cut.resize((max(1, round(cut.width * scale)), max(1, round(cut.height * scale))), Image.LANCZOS)
        cell = Image.new("RGBA", (CELL, CELL))
        cell.paste(cut, ((CELL - cut.width) // 2, (CELL - cut.height) // 2))
        cells.append((name, group, cell))
    rows = (len(cells) + COLUMNS - 1) // COLUMNS
    sheet = Image.new("RGBA", (COLUMNS * CELL, rows * CELL))
    with open("assets/atlas.txt", "w") as index:
        index.write("# group, held (suite:unseen only) or open, name; cells of atlas.png row by row\n")
        for i, (name, group, cell) in enumerate(cells):
            sheet.paste(cell, (i % COLUMNS * CELL, i // COLUMNS * CELL))
            index.write(f"{group} {'held' if i % 11 == 5 else 'open'} {name}\n")
    sheet.save("assets/atlas.png", optimize=True)
    print(len(cells), "cut-outs")


main()
