"""tools/question_texts.py on small files of the published forms, and what `arrcoc synth` draws of them:
python3 question_texts_test.py TOOL ARRCOC"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(2)
TOOL = sys.argv.pop(1)

MILL = 'The  mill was built in 1874\nby Anna Berg. Its café – the “Old Wheel” – opened in 1931.'
SQUAD = {'data': [{'title': 'The_Mill', 'paragraphs': [
    {'context': MILL, 'qas': [
        {'question': 'Who built the mill?', 'answers': [{'text': 'Anna Berg', 'answer_start': MILL.index('Anna')}]},
        {'question': 'What is the café called?', 'answers': [{'text': '“Old Wheel”', 'answer_start': MILL.index('“')}]},
        {'question': 'Who sold it?', 'answers': []},
        {'question': 'When did it open? ' + 'x' * 200, 'answers': [{'text': '1931', 'answer_start': MILL.index('1931')}]}]},
    {'context': 'Ω is not Latin-1.', 'qas': [{'question': 'What?', 'answers': [{'text': 'Ω', 'answer_start': 0}]}]}]}]}
SHIPS = 'Ship,Built,Master\n"Delphin",1901,O. Lund\n"Möwe",1913,P. Holm\n"Tern",1920,P. Holm\n'
ASKED = ['id\tutterance\tcontext\ttargetValue',
         'nt-0\tIn which year was the Möwe built?\tcsv/1.csv\t1913',
         'nt-1\tWho was master of the Tern?\tcsv/1.csv\tP. Holm',  # two cells say so
         'nt-2\tHow many ships are there?\tcsv/1.csv\t3',  # no cell says so
         'nt-3\tWhat?\tcsv/missing.csv\t1']


class Texts(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name
        with open(self.at('squad.json'), 'w', encoding='utf8') as file:
            json.dump(SQUAD, file)
        for name in ('data', 'csv'):
            os.mkdir(self.at(name))
        with open(self.at('data/training.tsv'), 'w', encoding='utf8') as file:
            file.write('\n'.join(ASKED) + '\n')
        with open(self.at('csv/1.csv'), 'w', encoding='utf8') as file:
            file.write(SHIPS)

    def at(self, name):
        return os.path.join(self.folder, name)

    def run_tool(self, *flags):
        return subprocess.run([sys.executable, TOOL, self.at('texts.txt'), *flags], capture_output=True, text=True)

    def lines(self):
        with open(self.at('texts.txt'), encoding='utf8') as file:
            return file.read().splitlines()

    def test_passages_keep_answers_at_their_place(self):
        self.assertEqual(self.run_tool('--squad', self.at('squad.json')).returncode, 0)
        title, text, *asked = self.lines()
        self.assertEqual(title, 'T\tThe Mill')
        self.assertEqual(text, 'P\tThe mill was built in 1874 by Anna Berg. Its café - the "Old Wheel" - opened in 1931.')
        self.assertEqual([row.split('\t')[1:3] for row in asked],
                         [['Who built the mill?', 'Anna Berg'], ['What is the café called?', '"Old Wheel"']])
        for row in asked:
            _, _, answer, at = row.split('\t')
            self.assertTrue(text[2:].encode()[int(at):].startswith(answer.encode()), row)

    def test_tables_keep_questions_that_one_cell_answers(self):
        self.assertEqual(self.run_tool('--tables', self.folder).returncode, 0)
        self.assertEqual(self.lines(), ['T\tShip and Built', 'H\tShip\tBuilt\tMaster', 'R\tDelphin\t1901\tO. Lund',
                                        'R\tMöwe\t1913\tP. Holm', 'R\tTern\t1920\tP. Holm',
                                        'A\tIn which year was the Möwe built?\t1\t1'])

    def test_the_generator_draws_what_it_wrote(self):
        self.run_tool('--squad', self.at('squad.json'), '--tables', self.folder)
        done = subprocess.run([PROGRAM, 'synth', '--kind', 'texts', '--texts', self.at('texts.txt'), '--count', '2',
                               '--out', self.at('scenes')], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(os.listdir(self.at('scenes/images'))), 2)

    def test_what_is_missing_is_named(self):
        done = self.run_tool('--squad', self.at('nothing.json'))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('nothing.json', done.stderr)
        self.assertNotEqual(self.run_tool().returncode, 0)
        self.assertFalse(os.path.exists(self.at('texts.txt')))


unittest.main()
