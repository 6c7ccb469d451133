#!/usr/bin/env python3
"""Figures of docs/predictions.md, from what `arrcoc eval --predictions FILE --details` wrote.

    tools/predictions.py zones FILE...      shares of patches and tokens by detail and by distance
    tools/predictions.py bias FILE...       tokens in the middle and in the corners over an even share
    tools/predictions.py patterns FILE...   number of ways in which tokens lie, k by silhouette
    tools/predictions.py passes FILE...     after how many looks questions are settled
    tools/predictions.py probe FILE...      how much of a map entropy, salience and print explain
    tools/predictions.py floor FILE...      right answers of one row against another's

--row NAME is whose allocations are meant (realized), --against NAME,... the rows that probe and floor
hold it against. Standard library only. Intervals are 95 %, by bootstrap over pictures.
"""
import argparse
import json
import math
import random
import sys

GRID = 8  # cells a side of a density
PROBE = 24  # cells a side of a map that is compared
DRAWS = 1000


# ---- What was written

def answers(paths):
    """Every line as a dictionary with what the figures need; the heavy lists are dropped."""
    places = {}  # suite, group, row -> lines so far: the question's number
    for path in paths:
        with open(path, encoding='utf8') as lines:
            for line in lines:
                one = json.loads(line)
                answer = one['answer']
                at = (one['suite'], one['group'], one['row'])
                places[at] = places.get(at, -1) + 1
                size = answer.get('canvas', answer['image'])
                yield {'set': one['suite'].rstrip('/').rsplit('/', 1)[-1], 'picture': at[:2], 'row': one['row'],
                       'question': at[:2] + (places[at],), 'wanted': one['wanted'],
                       'answer': answer.get('answer'), 'width': size['width'], 'height': size['height'],
                       'leaves': answer.get('leaves', []), 'map': answer.get('map'),
                       'looks': len(answer['passes']), 'stopped': answer.get('stopped')}


def rows_of(paths, names, shape):
    """row -> question -> (set, picture, shape(answer)) of the rows that are named."""
    out = {name: {} for name in names}
    for one in answers(paths):
        if one['row'] in out:
            out[one['row']][one['question']] = (one['set'], one['picture'], shape(one))
    for name, found in out.items():
        if not found:
            sys.exit(f"no line of row '{name}' in {' '.join(paths)}")
    return out


# ---- Figures

def mean(values):
    return sum(values) / len(values)


def interval(values, pictures):
    """(mean, low, high): whole pictures are drawn, with what was asked about each."""
    by = {}
    for value, picture in zip(values, pictures):
        by.setdefault(picture, []).append(value)
    groups = [(sum(group), len(group)) for group in by.values()]
    generator = random.Random(1)
    drawn = []
    for _ in range(DRAWS):
        some = generator.choices(groups, k=len(groups))
        drawn.append(sum(s for s, _ in some) / sum(n for _, n in some))
    drawn.sort()
    return mean(values), drawn[int(0.025 * DRAWS)], drawn[int(0.975 * DRAWS) - 1]


def text(values, pictures, scale=1.0, digits=2):
    m, low, high = (scale * v for v in interval(values, pictures))
    return f'{m:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})'


def sets(found):
    """Name and (picture, value) of every set, then of all together."""
    by = {}
    for name, picture, value in found.values():
        by.setdefault(name, []).append((picture, value))
    if len(by) > 1:
        by['all'] = [pair for pairs in list(by.values()) for pair in pairs]
    return by.items()


def table(head, lines):
    print('| ' + ' | '.join(head) + ' |\n|' + '---|' * len(head))
    for line in lines:
        print('| ' + ' | '.join(str(cell) for cell in line) + ' |')


# ---- Where tokens lie

def clipped(one, leaf):
    """Rectangle of a leaf inside the picture: x0, y0, x1, y1."""
    return (leaf['x'], leaf['y'], min(leaf['x'] + leaf['size'], one['width']),
            min(leaf['y'] + leaf['size'], one['height']))


def peak(one):
    """Centre of the map's largest cell, in pixels of what leaves refer to."""
    grid = one['map']
    at = max(range(len(grid['values'])), key=grid['values'].__getitem__)
    return ((at % grid['cols'] + 0.5) / grid['cols'] * one['width'],
            (at // grid['cols'] + 0.5) / grid['rows'] * one['height'])


def zone_shares(one):
    """Six shares: of the area and of the tokens by level (finest, 1 and 2, coarser), and of the
    tokens by distance to the peak of the map (to 1/20 of the longer side, to 1/8, beyond)."""
    area, tokens, near = [0.0] * 3, [0.0] * 3, [0.0] * 3
    px, py = peak(one)
    for leaf in one['leaves']:
        x0, y0, x1, y1 = clipped(one, leaf)
        zone = 0 if leaf['level'] <= 0 else 1 if leaf['level'] <= 2 else 2
        area[zone] += (x1 - x0) * (y1 - y0)
        tokens[zone] += 1
        away = math.dist(((x0 + x1) / 2, (y0 + y1) / 2), (px, py)) / max(one['width'], one['height'])
        near[0 if away <= 1 / 20 else 1 if away <= 1 / 8 else 2] += 1
    shares = []
    for part in (area, tokens, near):
        shares += [value / sum(part) for value in part]
    return shares


def zones(args):
    found = rows_of(args.files, [args.row], zone_shares)[args.row]
    head = ['set', 'questions', 'share, %', 'fovea', 'parafovea', 'periphery']
    what = ['of patches, by level', 'of tokens, by level', 'of tokens, by distance']
    lines = []
    for name, pairs in sets(found):
        pictures = [p for p, _ in pairs]
        for i, kind in enumerate(what):
            lines.append([name, len(pairs), kind] +
                         [text([v[3 * i + z] for _, v in pairs], pictures, 100, 1) for z in range(3)])
    table(head, lines)
    print('by level: 16 pixels a side or fewer, 32 and 64, more; by distance from the peak of the map: to 1/20 of the '
          'longer side, to 1/8, beyond')


def density(one, cells=GRID):
    """Share of the tokens in each cell of a grid over the picture, row by row."""
    out = [0.0] * (cells * cells)
    cw, ch = one['width'] / cells, one['height'] / cells
    for leaf in one['leaves']:
        x0, y0, x1, y1 = clipped(one, leaf)
        whole = (x1 - x0) * (y1 - y0)
        for r in range(int(y0 / ch), min(cells, math.ceil(y1 / ch))):
            high = min(y1, (r + 1) * ch) - max(y0, r * ch)
            for c in range(int(x0 / cw), min(cells, math.ceil(x1 / cw))):
                out[r * cells + c] += high * (min(x1, (c + 1) * cw) - max(x0, c * cw)) / whole
    return [value / len(one['leaves']) for value in out]


def bias(args):
    found = rows_of(args.files, [args.row] + args.against, lambda one: density(one, 3))
    places = [('middle', 4), ('top left', 0), ('top right', 2), ('bottom left', 6), ('bottom right', 8)]
    lines = []
    for row, questions in found.items():
        for name, pairs in sets(questions):
            pictures = [p for p, _ in pairs]
            lines.append([row, name, len(pairs)] +
                         [text([9 * v[at] for _, v in pairs], pictures) for _, at in places])
    table(['row', 'set', 'questions'] + [name for name, _ in places], lines)
    print('share of the tokens in a ninth of the picture, over 1/9')


# ---- Patterns

def k_means(points, k, generator, rounds=50):
    centres = [generator.choice(points)]
    while len(centres) < k:  # k-means++
        chances = [min(math.dist(p, c) for c in centres) ** 2 for p in points]
        if not sum(chances) > 0:
            break
        centres.append(generator.choices(points, chances)[0])
    of = []
    for _ in range(rounds):
        now = [min(range(len(centres)), key=lambda c: math.dist(p, centres[c])) for p in points]
        if now == of:
            break
        of = now
        for c in range(len(centres)):
            members = [p for p, own in zip(points, of) if own == c]
            if members:
                centres[c] = [sum(column) / len(members) for column in zip(*members)]
    return of


def silhouette(apart, of):
    """Mean over points of (b - a) / max(a, b); 0 for a point alone in its cluster."""
    sizes = [of.count(c) for c in range(max(of) + 1)]
    total = 0.0
    for i, own in enumerate(of):
        if sizes[own] < 2:
            continue
        sums = [0.0] * len(sizes)
        for c, d in zip(of, apart[i]):
            sums[c] += d
        a = sums[own] / (sizes[own] - 1)
        b = min(sums[c] / sizes[c] for c in range(len(sizes)) if c != own and sizes[c] > 0)
        total += (b - a) / max(a, b) if max(a, b) > 0 else 0
    return total / len(of)


def best_k(points, most, generator, tries):
    """(silhouette, k, sizes) of the best k, and the silhouette of every k."""
    apart = [[math.dist(p, q) for q in points] for p in points]
    values = {}
    best = (-1.0, 0, [])
    for k in range(2, min(most, len(points) - 1) + 1):
        for _ in range(tries):
            of = k_means(points, k, generator)
            value = silhouette(apart, of)
            values[k] = max(value, values.get(k, -1.0))
            best = max(best, (value, k, sorted((of.count(c) for c in set(of)), reverse=True)))
    return best, values


def patterns(args):
    found = rows_of(args.files, [args.row], density)[args.row]
    generator = random.Random(1)
    lines = []
    for name, pairs in sets(found):
        points = [v for _, v in pairs]
        if len(points) < 10:
            continue
        (value, k, sizes), values = best_k(points, args.most, generator, 3)
        again = []
        for _ in range(args.resamples):  # half of the questions each
            again.append(best_k(generator.sample(points, len(points) // 2), args.most, generator, 1)[0][1])
        again.sort()
        lines.append([name, len(points), k, f'{value:.3f}', ' '.join(f'{values.get(c, 0):.2f}' for c in (4, 8, 10, 12)),
                      f'{again[0]} to {again[-1]}, median {again[len(again) // 2]}', ' '.join(map(str, sizes[:6]))])
    table(['set', 'questions', 'k', 'silhouette', 'at k = 4, 8, 10, 12', f'k of {args.resamples} halves', 'largest clusters'],
          lines)
    print(f'k-means over {GRID}x{GRID} token densities, k from 2 to {args.most}')


# ---- Looking again

def passes(args):
    found = rows_of(args.files, [args.row], lambda one: (one['looks'], one['stopped']))[args.row]
    most = max(looks for _, _, (looks, _) in found.values())
    lines = []
    for name, pairs in sets(found):
        pictures = [p for p, _ in pairs]
        settled = [text([float(stopped == 'sure' and looks == n) for _, (looks, stopped) in pairs], pictures, 100, 1)
                   for n in range(1, most + 1)]
        never = text([float(stopped != 'sure') for _, (_, stopped) in pairs], pictures, 100, 1)
        why = {}
        for _, (_, stopped) in pairs:
            if stopped != 'sure':
                why[stopped] = why.get(stopped, 0) + 1
        lines.append([name, len(pairs)] + settled + [never, ', '.join(f'{n} {w}' for w, n in sorted(why.items())),
                                                     f'{mean([looks for _, (looks, _) in pairs]):.2f}'])
    table(['set', 'questions'] + [f'sure after {n}, %' for n in range(1, most + 1)] +
          ['never sure, %', 'why it ended', 'looks'], lines)


# ---- What the map still measures

def pooled(one):
    """The map on PROBE x PROBE cells, as means of what is nearest."""
    grid = one['map']
    out = []
    for r in range(PROBE):
        rows = range(r * grid['rows'] // PROBE, max(r * grid['rows'] // PROBE + 1, (r + 1) * grid['rows'] // PROBE))
        for c in range(PROBE):
            cols = range(c * grid['cols'] // PROBE,
                         max(c * grid['cols'] // PROBE + 1, (c + 1) * grid['cols'] // PROBE))
            out.append(mean([grid['values'][y * grid['cols'] + x] for y in rows for x in cols]))
    return out


def standard(values):
    m = mean(values)
    deviation = math.sqrt(mean([(v - m) ** 2 for v in values]))
    return [(v - m) / deviation if deviation > 1e-9 else 0.0 for v in values]


def solve(matrix, right):
    """x of matrix x = right, by elimination; columns without a pivot give 0."""
    n = len(right)
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    pivots = []
    for c in range(n):
        free = [r for r in range(n) if r not in pivots]
        best = max(free, key=lambda r: abs(rows[r][c]))
        if abs(rows[best][c]) < 1e-9:
            pivots.append(None)
            continue
        pivots.append(best)
        for r in range(n):
            if r != best:
                factor = rows[r][c] / rows[best][c]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[best])]
    return [0.0 if p is None else rows[p][n] / rows[p][c] for c, p in enumerate(pivots)]


def explained(map_, others):
    """Share of the map's variance that the best sum of the others explains (R squared)."""
    k = len(others)
    inner = [[mean([a * b for a, b in zip(others[i], others[j])]) for j in range(k)] for i in range(k)]
    right = [mean([a * b for a, b in zip(others[i], map_)]) for i in range(k)]
    return sum(w * r for w, r in zip(solve(inner, right), right))


def probe(args):
    found = rows_of(args.files, [args.row] + args.against, lambda one: standard(pooled(one)))
    correlations = {}
    for question, (name, picture, own) in found[args.row].items():
        others = [found[row].get(question) for row in args.against]
        if None in others or not any(own):
            continue
        maps = [value for _, _, value in others]
        correlations[question] = (name, picture, [mean([a * b for a, b in zip(own, m)]) for m in maps] +
                                  [explained(own, maps)])
    lines = []
    for name, pairs in sets(correlations):
        pictures = [p for p, _ in pairs]
        lines.append([name, len(pairs)] +
                     [text([v[i] for _, v in pairs], pictures) for i in range(len(args.against) + 1)])
    table(['set', 'questions'] + [f'correlation with {row}' for row in args.against] + ['R squared of all'], lines)
    print(f"row {args.row}, maps of {PROBE}x{PROBE} cells, each question's own best sum")


# ---- A floor

def same(one):
    return float((one['answer'] or '').strip().lower() == (one['wanted'] or '').strip().lower())


def floor(args):
    found = rows_of(args.files, [args.row] + args.against, same)
    lines = []
    for row in args.against:
        both = {q: (name, picture, (own, found[row][q][2])) for q, (name, picture, own) in found[args.row].items()
                if q in found[row]}
        for name, pairs in sets(both):
            pictures = [p for p, _ in pairs]
            lines.append([row, name, len(pairs), f'{mean([a for _, (a, _) in pairs]):.3f}',
                          f'{mean([b for _, (_, b) in pairs]):.3f}',
                          text([b - a for _, (a, b) in pairs], pictures, 100, 1),
                          sum(b > a for _, (a, b) in pairs), sum(b < a for _, (a, b) in pairs)])
    table(['row', 'set', 'questions', args.row, 'row', 'points', 'won', 'lost'], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    figures = {'zones': zones, 'bias': bias, 'patterns': patterns, 'passes': passes, 'probe': probe, 'floor': floor}
    against = {'bias': '', 'probe': 'information,saliency,text', 'floor': 'no-information'}
    kinds = parser.add_subparsers(dest='figure', required=True, metavar='FIGURE')
    for name in figures:
        one = kinds.add_parser(name)
        one.add_argument('files', nargs='+')
        one.add_argument('--row', default='passes' if name == 'passes' else 'realized')
        if name in against:
            one.add_argument('--against', default=against[name], type=lambda names: [n for n in names.split(',') if n])
        if name == 'patterns':
            one.add_argument('--most', type=int, default=16, help='largest k')
            one.add_argument('--resamples', type=int, default=10, help='halves of the questions, for the spread of k')
    args = parser.parse_args()
    if isinstance(getattr(args, 'against', None), str):
        args.against = [n for n in args.against.split(',') if n]
    figures[args.figure](args)


if __name__ == '__main__':
    main()
