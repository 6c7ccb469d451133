// What is chosen: in the form, in the address (never the pictures or the question), and what this browser remembers.
import {$, get} from './page_api.js';

// This browser's memory, where it allows one.
export const memory = {
  get(name) {
    try {
      return JSON.parse(localStorage.getItem('arrcoc.' + name));
    } catch (ignored) {
      return null;
    }
  },
  set(name, value) {
    try {
      if (value === null) localStorage.removeItem('arrcoc.' + name);
      else localStorage.setItem('arrcoc.' + name, JSON.stringify(value));
    } catch (ignored) {
      // Full, or not allowed: nothing is remembered.
    }
  },
};

const SWITCHES = {map: 'show-heat', tree: 'show-tree'};  // 1 unless the address says 0

export function chosen() {
  return {
    budget: $('auto').checked ? 'auto' : Number($('budget').value),
    policy: $('policy').value,
    passes: Number($('passes').value),
  };
}

function select(id, value) {
  if ([...$(id).options].some((option) => option.value === value)) $(id).value = value;
}

export function choose({budget, policy, passes}) {
  if (budget !== undefined) {
    $('auto').checked = budget === 'auto';
    if (Number(budget) > 0) $('budget').value = Number(budget);
  }
  if (policy !== undefined) select('policy', String(policy));
  if (passes !== undefined) select('passes', String(passes));
  showBudget();
}

export function showBudget() {
  $('budget').disabled = $('auto').checked;
  $('budget-value').textContent = $('auto').checked ? 'as many as it needs' : $('budget').value;
}

// #budget=64&policy=lexical&passes=2&view=resize&map=0&compare=1
export function writeLink(compare) {
  const words = new URLSearchParams(Object.entries(chosen()));
  if ($('view').value !== 'seen') words.set('view', $('view').value);
  for (const [word, id] of Object.entries(SWITCHES)) if (!$(id).checked) words.set(word, '0');
  if (compare) words.set('compare', '1');
  history.replaceState(null, '', '#' + words);
}

// Returns whether two questions are to be compared.
export function readLink() {
  const words = new URLSearchParams(location.hash.slice(1));
  choose(Object.fromEntries(words));
  if (words.has('view')) select('view', words.get('view'));
  for (const [word, id] of Object.entries(SWITCHES)) $(id).checked = words.get(word) !== '0';
  return words.get('compare') === '1';
}

// ---- Colours

export function showTheme(theme) {
  const known = ['light', 'dark'].includes(theme) ? theme : 'system';
  document.documentElement.dataset.theme = known;
  $('theme').value = known;
}

export function setTheme(theme) {
  memory.set('theme', theme === 'system' ? null : theme);
  showTheme(theme);
}

// ---- Money

export const price = () => {
  const value = Number($('price').value);
  return $('price').value !== '' && value >= 0 ? value : null;
};

const money = new Intl.NumberFormat('en', {style: 'currency', currency: 'USD', maximumSignificantDigits: 3});
export const dollars = (tokens, times = 1) => money.format(tokens * times * price() * 1e-6);
export const number = (n) => n.toLocaleString('en');

// The server's own price for the model wins over what was typed here.
export async function showPrice(model) {
  const reply = await get('/v1/savings');
  const report = reply && await reply.json();
  const priced = (report?.models ?? []).filter((line) => line.dollars_per_million !== undefined);
  const line = priced.find((one) => one.model === model) ?? (priced.length === 1 ? priced[0] : null);
  $('price').readOnly = Boolean(line);
  $('price').value = line ? line.dollars_per_million : memory.get('price') ?? '';
  $('price-hint').textContent = line ? 'The price is set by this server.' : 'The price is remembered in this browser.';
  return report?.total ?? null;
}
