"""tools/predictions.py on made-up answers whose figures are known: python3 predictions_test.py TOOL"""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)


def answer(row, group, leaves, values=(0, 0, 0, 1), looks=1, stopped='sure', text='a', suite='some/set'):
    """A picture of 256 x 256; leaves: (x, y, size, level)."""
    return {'suite': suite, 'group': group, 'row': row, 'image': '', 'id': '', 'kind': '', 'wanted': 'A ',
            'answer': {'image': {'width': 256, 'height': 256}, 'answer': text, 'stopped': stopped,
                       'passes': [{}] * looks, 'map': {'rows': 2, 'cols': 2, 'values': list(values)},
                       'leaves': [{'x': x, 'y': y, 'size': s, 'level': level} for x, y, s, level in leaves]}}


QUARTERS = [(0, 0, 128, 3), (128, 0, 128, 3), (0, 128, 128, 3), (128, 128, 128, 3)]


class Figures(unittest.TestCase):
    def run_tool(self, figure, lines, *flags):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'answers.jsonl')
            with open(path, 'w', encoding='utf8') as out:
                out.writelines(json.dumps(line) + '\n' for line in lines)
            done = subprocess.run([sys.executable, TOOL, figure, path, *flags], capture_output=True, text=True)
        if done.returncode:
            return done.stderr
        return [[cell.strip() for cell in line.split('|')[1:-1]] for line in done.stdout.splitlines()
                if line.startswith('| ')]

    def test_zones_are_shares_of_area_and_of_tokens(self):
        # A quarter of the area in 64 leaves of 16 pixels, the rest in three of 128.
        fine = [(128 + 16 * x, 128 + 16 * y, 16, 0) for x in range(8) for y in range(8)]
        head, area, tokens, near = self.run_tool('zones', [answer('realized', 0, QUARTERS[:3] + fine)])
        self.assertEqual(area[3:], ['25.0 (25.0 to 25.0)', '0.0 (0.0 to 0.0)', '75.0 (75.0 to 75.0)'])
        self.assertTrue(tokens[3].startswith('95.5 '))
        # The peak is the middle of that quarter: four leaves are within 1/20 of 256, the corners of the
        # quarter and the coarse leaves beyond 1/8.
        self.assertTrue(near[3].startswith('6.0 '), near)

    def test_leaves_over_the_edge_count_inside_only(self):
        one = answer('realized', 0, [(0, 0, 256, 4), (256, 0, 256, 4)])
        one['answer']['image'] = {'width': 320, 'height': 256}
        _, row = self.run_tool('bias', [one])
        # Of the right third (from 213 on) a sixth of the first leaf and all of the second.
        self.assertEqual([cell.split()[0] for cell in row[3:6]], ['0.62', '0.62', '1.75'])

    def test_even_tokens_have_no_bias(self):
        _, row = self.run_tool('bias', [answer('realized', 0, QUARTERS)])
        self.assertEqual([cell.split()[0] for cell in row[3:]], ['1.00'] * 5)

    def test_three_ways_to_lie_are_three_patterns(self):
        generator = random.Random(2)
        lines = []
        for i in range(45):
            x, y = [(0, 0), (128, 0), (0, 128)][i % 3]
            fine = [(x + 16 * generator.randrange(8), y + 16 * generator.randrange(8), 16, 0) for _ in range(40)]
            lines.append(answer('realized', i, fine + QUARTERS))
        _, row = self.run_tool('patterns', lines, '--most', '8', '--resamples', '3')
        self.assertEqual(row[2], '3')
        self.assertGreater(float(row[3]), 0.4)

    def test_looks_are_counted_where_they_ended_sure(self):
        lines = [answer('passes', 0, QUARTERS), answer('passes', 1, QUARTERS, looks=2),
                 answer('passes', 2, QUARTERS, looks=2, stopped='spread'), answer('passes', 3, QUARTERS, looks=3)]
        _, row = self.run_tool('passes', lines)
        self.assertEqual([cell.split()[0] for cell in row[2:6]], ['25.0'] * 4)
        self.assertEqual(row[6:], ['1 spread', '2.00'])

    def test_a_map_that_is_a_sum_of_others_is_explained(self):
        a, b = [0, 1, 0, 1], [0, 0, 1, 1]
        lines = [answer('realized', 0, QUARTERS, [x + y for x, y in zip(a, b)]), answer('one', 0, QUARTERS, a),
                 answer('two', 0, QUARTERS, b), answer('three', 0, QUARTERS, [1, 0, 0, 1])]
        _, row = self.run_tool('probe', lines, '--against', 'one,two')
        self.assertEqual([cell.split()[0] for cell in row[2:]], ['0.71', '0.71', '1.00'])
        _, row = self.run_tool('probe', lines, '--against', 'three')
        self.assertEqual(row[2].split()[0].lstrip('-'), '0.00')

    def test_answers_are_paired_by_question(self):
        lines = [answer('realized', 0, QUARTERS), answer('realized', 0, QUARTERS, text='b'),
                 answer('other', 0, QUARTERS, text='b'), answer('other', 0, QUARTERS)]
        _, row = self.run_tool('floor', lines, '--against', 'other')
        self.assertEqual(row[3:5] + row[6:], ['0.500', '0.500', '1', '1'])
        self.assertIn("no line of row 'nobody'", self.run_tool('floor', lines, '--against', 'nobody'))


if __name__ == '__main__':
    unittest.main()
