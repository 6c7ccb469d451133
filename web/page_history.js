// Questions of this browser: words and numbers, no pictures. At most MOST; they go nowhere.
import {$} from './page_api.js';
import {memory, number} from './page_options.js';

const MOST = 50;

const kept = () => memory.get('history') ?? [];
const keeps = () => memory.get('history-off') !== true;

// entry: {question, answer, tokens, native, files, options: {budget, policy, passes}}
export function remember(entry) {
  if (!keeps()) return;
  const brief = {...entry, answer: entry.answer.slice(0, 500), files: entry.files.map((name) => name.slice(0, 100)), time: Date.now()};
  memory.set('history', [brief, ...kept()].slice(0, MOST));
}

function line(entry, reuse) {
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.type = 'button';
  const question = document.createElement('strong');
  question.textContent = entry.question;
  const answer = document.createElement('span');
  answer.textContent = entry.answer || '(nothing)';
  const facts = document.createElement('span');
  facts.className = 'facts';
  const {budget, policy, passes} = entry.options;
  facts.textContent = `${entry.files.join(', ')}; ${number(entry.tokens)} of ${number(entry.native)} tokens; budget ${budget}, ` +
    `${policy}, looks ${passes}; ${new Date(entry.time).toLocaleString()}`;
  button.append(question, answer, facts);
  button.addEventListener('click', () => { $('history').close(); reuse(entry); });
  item.append(button);
  return item;
}

function show(reuse) {
  const entries = kept();
  $('history-list').replaceChildren(...entries.map((entry) => line(entry, reuse)));
  $('history-none').hidden = entries.length > 0;
  $('history-clear').disabled = entries.length === 0;
  $('history-keep').checked = keeps();
}

// reuse(entry): an entry was chosen.
export function wireHistory(reuse) {
  $('open-history').addEventListener('click', () => { show(reuse); $('history').showModal(); });
  $('history-clear').addEventListener('click', () => {
    memory.set('history', null);
    show(reuse);
    $('history-close').focus();
  });
  $('history-keep').addEventListener('change', () => memory.set('history-off', $('history-keep').checked ? null : true));
  $('history-close').addEventListener('click', () => $('history').close());
}
