#!/bin/sh
# Cuts the fonts of assets/fonts/index.txt out of Debian's font packages: Latin-1, the euro sign and
# (families with the role "math") Greek letters and mathematical signs; hinting and layout tables
# are dropped because stb_truetype reads outlines only. Run once, from the repository root, on a
# machine with fonttools and the packages named in assets/LICENSES.md.
set -eu
out=assets/fonts
latin='U+0020-007E,U+00A0-00FF,U+20AC,U+2013,U+2014,U+2018,U+2019,U+201C,U+201D,U+2022,U+2026'
math="$latin,U+0391-03A9,U+03B1-03C9,U+03D5,U+2202,U+2206,U+2207,U+2208,U+220F,U+2211,U+2212,U+221A,U+221E,U+222B,U+2248,U+2260,U+2261,U+2264,U+2265,U+2192,U+22C5,U+00D7,U+00F7"
cut() { # source name unicodes
  pyftsubset "$1" --output-file="$out/$2" --unicodes="$3" --no-hinting --desubroutinize \
    --layout-features='' --drop-tables+=GSUB,GPOS,GDEF,kern,DSIG,FFTM,PfEd,BASE,VDMX,hdmx,LTSH,gasp \
    --name-IDs='0,13,14' --notdef-outline --ignore-missing-unicodes
}
while read -r name source kind; do
  case "$name" in ''|'#'*) continue ;; esac
  case "$kind" in math) set_=$math ;; *) set_=$latin ;; esac
  cut "/usr/share/fonts/$(printf %s "$source" | tr '@' ' ')" "$name" "$set_"
done < tools/fonts.txt
du -ck "$out"/* | tail -1
