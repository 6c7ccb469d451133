// The page: pictures, a question or two, and where the tokens went. Nothing from outside, no build step.
import {$, fail, health, post, say} from './page_api.js';
import {Card, request} from './page_answer.js';
import {remember, wireHistory} from './page_history.js';
import {choose, chosen, dollars, memory, number, price, readLink, setTheme, showBudget, showPrice, showTheme, writeLink} from './page_options.js';
import {clear, items, onChange, wirePictures} from './page_pictures.js';

const cards = [];
let comparing = false;
let asking = null;  // this round's own mark: only the latest counts

const questions = () => (comparing ? [$('question'), $('question2')] : [$('question')]).map((input) => input.value.trim());

// ---- Counting before sending

let waiting = 0;
let counting = null;

function countSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(count, 350);
}

async function countOne(question, signal) {
  const reply = await post('/v1/chat/completions/input_tokens', request(question, {}), signal);
  const {kept, native} = (await reply.json()).image_tokens;
  const money = price() === null ? '' : `: ${dollars(kept)} instead of ${dollars(native)}`;
  return `${kept} of ${native} image tokens (${(100 * kept / native).toFixed(1)} %)${money}`;
}

async function count() {
  counting?.abort();
  const asked = questions();
  if (items.length === 0 || asked.some((one) => !one)) return say('count', '');
  if (items.some(({kind}) => kind === 'film')) return say('count', 'A film is watched before its tokens are known.');
  counting = new AbortController();
  try {
    const counts = await Promise.all(asked.map((one) => countOne(one, counting.signal)));
    say('count', counts.length === 1 ? counts[0] : counts.map((one, i) => `${i + 1}: ${one}`).join('; '));
  } catch (problem) {
    if (problem.name !== 'AbortError') say('count', '');
  }
}

// ---- Asking

// What the server saved since it started, in tokens and, where prices are set, in money.
function showSavings(total) {
  if (!total?.native_tokens) return;
  const money = total.saved_dollars === undefined ? '' : `, $${total.saved_dollars.toFixed(2)}`;
  $('savings').textContent = `Since this server started: ${number(total.saved_tokens)} of ` +
    `${number(total.native_tokens)} image tokens saved (${(100 * total.saved_share).toFixed(1)} %)${money}.`;
}

function keep(question, answer, cost) {
  remember({question, answer, tokens: cost?.kept ?? 0, native: cost?.native ?? 0, files: items.map(({name}) => name), options: chosen()});
}

async function ask() {
  fail('');
  const round = asking = {};
  // Not disabled, which would take the keyboard's focus away.
  $('send').setAttribute('aria-disabled', 'true');
  $('send').textContent = 'Looking …';
  say('said', 'Looking …');
  say('moved', '');
  const asked = questions();
  if (matchMedia('(max-width: 900px)').matches) $('answers').scrollIntoView();  // it is below the form there
  const ends = await Promise.allSettled(cards.map((card, i) => card.ask(asked[i])));
  if (asking !== round) return;
  asking = null;
  $('send').textContent = 'Ask';
  ready();
  const problem = ends.find(({status, reason}) => status === 'rejected' && reason.name !== 'AbortError');
  if (problem) fail(problem.reason.message);
  const heard = ends.map(({value}, i) => value && `Answer${ends.length > 1 ? ` ${i + 1}` : ''}: ${value.answer || 'nothing'}. ` +
    `${cards[i].sure}${cards[i].counted}.`).filter(Boolean);
  say('said', heard.join(' '));
  if (heard.length === 0) return;
  ends.forEach(({value}, i) => value && keep(asked[i], value.answer, cards[i].cost));
  showSavings(await showPrice(ends.find(({value}) => value).value.model));
  cards.forEach((card) => card.showCost());
}

function stop() {
  asking = null;
  cards.forEach((card) => card.stop());
  $('send').textContent = 'Ask';
  say('said', '');
  ready();
}

function mayAsk() {
  return !$('send').disabled && $('send').getAttribute('aria-disabled') !== 'true';
}

function ready() {
  $('send').setAttribute('aria-disabled', 'false');
  $('send').disabled = items.length === 0 || questions().some((one) => !one);
}

// ---- What is shown

function showCards() {
  while (cards.length > (comparing ? 2 : 1)) cards.pop();
  while (cards.length < (comparing ? 2 : 1)) cards.push(new Card());
  $('answers').replaceChildren(...cards.map(({root}) => root));
  $('answers').classList.toggle('two', comparing);
  $('answers').hidden = items.length === 0;
  $('empty').hidden = items.length > 0;
  $('clear').hidden = items.length < 2;
  $('drop-words').textContent = items.length === 0 ? 'Drop, paste or choose pictures or a film' : 'Add another picture or film';
  countSoon();
}

function compare(on) {
  stop();
  comparing = on;
  $('second-row').hidden = !on;
  $('compare').setAttribute('aria-expanded', String(on));
  $('compare').textContent = on ? 'Ask one question only' : 'Compare with another question';
  showCards();
}

const draw = () => cards.forEach((card) => card.draw());
const link = () => writeLink(comparing);

function restore() {
  const two = readLink();
  if (two !== comparing) compare(two);
  draw();
  countSoon();
}

function reuse({question, options}) {
  choose(options);
  $('question').value = question;
  link();
  ready();
  countSoon();
  $('question').focus();
}

// ---- Keys

function toggle(id) {
  $(id).click();
}

const KEYS = {
  '/': () => $('question').focus(),
  'o': () => $('file').click(),
  'c': () => toggle('compare'),
  'm': () => toggle('show-heat'),
  'q': () => toggle('show-tree'),
  'h': () => toggle('open-history'),
  'd': () => { setTheme($('theme').value === 'dark' ? 'light' : 'dark'); draw(); },
  '?': () => toggle('open-keys'),
};

function pressed(event) {
  if (document.querySelector('dialog[open]')) return;
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && mayAsk()) return ask();
  if (event.key === 'Escape' && asking) return stop();
  const typing = event.target.matches('input:not([type=checkbox], [type=range], [type=file]), select, textarea');
  if (typing || event.ctrlKey || event.metaKey || event.altKey || memory.get('keys-off')) return;
  if (!Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
}

// ---- Wiring

async function copyLink() {
  link();
  try {
    await navigator.clipboard.writeText(location.href);
    say('moved', 'The link was copied.');
  } catch (ignored) {
    say('moved', 'The address line has the link.');
  }
}

function wireOptions() {
  $('budget').addEventListener('input', () => { showBudget(); countSoon(); });
  $('auto').addEventListener('change', showBudget);
  for (const id of ['budget', 'auto', 'policy', 'passes', 'key']) $(id).addEventListener('change', countSoon);
  for (const id of ['show-heat', 'show-tree', 'view']) $(id).addEventListener('change', draw);
  for (const id of ['budget', 'auto', 'policy', 'passes', 'show-heat', 'show-tree', 'view']) $(id).addEventListener('change', link);
  $('key').addEventListener('change', () => showPrice());
  $('price').addEventListener('input', () => {
    memory.set('price', price());
    cards.forEach((card) => card.showCost());
    countSoon();
  });
  $('theme').addEventListener('change', () => { setTheme($('theme').value); draw(); });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  $('copy-link').addEventListener('click', copyLink);
  window.addEventListener('hashchange', restore);
}

function wire() {
  showTheme(memory.get('theme'));
  onChange(() => {
    stop();
    cards.forEach((card) => card.reset());
    showCards();
  });
  wirePictures();
  wireHistory(reuse);
  wireOptions();
  $('clear').addEventListener('click', () => { clear(); $('file').focus(); });
  $('compare').addEventListener('click', () => {
    compare(!comparing);
    link();
    ready();
    if (comparing) $('question2').focus();
  });
  $('form').addEventListener('submit', (e) => { e.preventDefault(); if (mayAsk()) ask(); });
  for (const id of ['question', 'question2']) $(id).addEventListener('input', () => { ready(); countSoon(); });
  $('open-keys').addEventListener('click', () => { $('keys-on').checked = !memory.get('keys-off'); $('keys').showModal(); });
  $('keys-close').addEventListener('click', () => $('keys').close());
  $('keys-on').addEventListener('change', () => memory.set('keys-off', $('keys-on').checked ? null : true));
  document.addEventListener('keydown', pressed);
  compare(readLink());
  ready();
  health();
  showPrice();
}

wire();
