// The page: a picture, a question, and where the tokens went. Nothing from outside, no build step.
'use strict';

const $ = (id) => document.getElementById(id);
const LEVELS = ['#d32f2f', '#f57c00', '#fbc02d', '#388e3c', '#1976d2', '#5e35b1', '#455a64'];

const state = {
  url: '',          // the picture as a data: URL
  image: null,      // and decoded
  seen: null,       // what the server said about it: {leaves: [[...]], best, map, kept, native}
  id: '',           // of the last answer, for ratings
  log: null,        // what the server keeps: {share, days}; null: nothing
  asking: null,     // stops the question that is being answered
};

// Sets the text of a live region only where it changes: every setting is read out.
function say(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

function fail(message) {
  say('error', message);
  $('error').hidden = !message;
}

function headers() {
  const out = {'Content-Type': 'application/json'};
  if ($('key').value) out.Authorization = 'Bearer ' + $('key').value;
  return out;
}

// The reply, or an Error with the server's own words.
async function post(path, body, signal) {
  let reply;
  try {
    reply = await fetch(path, {method: 'POST', headers: headers(), body: JSON.stringify(body), signal});
  } catch (problem) {
    if (problem.name === 'AbortError') throw problem;
    throw new Error('The server cannot be reached.');
  }
  if (reply.ok) return reply;
  if (reply.status === 401) $('key-row').hidden = false;
  let words = 'The server answered with status ' + reply.status + '.';
  try {
    words = (await reply.json()).error.message;
  } catch (ignored) {
    // Not in the usual form: the status has to do.
  }
  throw new Error(words);
}

function request(extra) {
  return {
    messages: [{role: 'user', content: [
      {type: 'image_url', image_url: {url: state.url}},
      {type: 'text', text: $('question').value.trim()},
    ]}],
    arrcoc: {
      budget: Number($('budget').value),
      policy: $('policy').value,
      passes: Number($('passes').value),
    },
    ...extra,
  };
}

// ---- Pictures

function take(file) {
  fail('');
  if (!file || !file.type.startsWith('image/')) {
    fail('This is not a picture.');
    return;
  }
  const reader = new FileReader();
  reader.onerror = () => fail('The file cannot be read.');
  reader.onload = () => {
    const image = new Image();
    image.onerror = () => fail('This picture cannot be shown.');
    image.onload = () => {
      state.url = reader.result;
      image.alt = file.name || 'pasted picture';
      state.image = image;
      state.seen = null;
      state.asking?.abort();
      $('picked').textContent = `${image.alt}, ${image.naturalWidth} × ${image.naturalHeight}`;
      $('result').hidden = $('strip-box').hidden = $('homunculus-box').hidden = true;
      draw();
      ready();
      countSoon();
    };
    image.src = reader.result;
  };
  reader.readAsDataURL(file);
}

function fit(canvas) {
  const {naturalWidth: w, naturalHeight: h} = state.image;
  const scale = Math.min(1, 1024 / Math.max(w, h));
  canvas.width = Math.max(1, Math.round(w * scale));
  canvas.height = Math.max(1, Math.round(h * scale));
  return scale;
}

function drawHeat(context, map, width, height) {
  const small = document.createElement('canvas');
  small.width = map.cols;
  small.height = map.rows;
  const pixels = small.getContext('2d').createImageData(map.cols, map.rows);
  const top = Math.max(1e-6, ...map.values);
  map.values.forEach((value, i) => {
    const v = value / top;
    pixels.data.set([255, Math.round(200 * (1 - v)), 0, Math.round(190 * v)], 4 * i);
  });
  small.getContext('2d').putImageData(pixels, 0, 0);
  context.imageSmoothingEnabled = true;
  context.drawImage(small, 0, 0, width, height);
}

function drawTree(context, leaves, scale) {
  context.lineWidth = 1;
  for (const leaf of [...leaves].sort((a, b) => b.size - a.size)) {
    context.strokeStyle = LEVELS[Math.min(Math.max(leaf.level, 0), LEVELS.length - 1)];
    context.strokeRect(leaf.x * scale + 0.5, leaf.y * scale + 0.5, leaf.size * scale - 1, leaf.size * scale - 1);
  }
}

function drawStage(canvas, leaves, heat, tree) {
  const context = canvas.getContext('2d');
  const scale = fit(canvas);
  context.drawImage(state.image, 0, 0, canvas.width, canvas.height);
  if (heat && state.seen) {
    context.fillStyle = 'rgba(0, 0, 0, 0.25)';
    context.fillRect(0, 0, canvas.width, canvas.height);
    drawHeat(context, state.seen.map, canvas.width, canvas.height);
  }
  if (tree && leaves) drawTree(context, leaves, scale);
}

// Every leaf becomes 16 x 16 pixels, as the model gets it, and is shown at its place.
function drawSeen(canvas, leaves) {
  const context = canvas.getContext('2d');
  const scale = fit(canvas);
  const patch = document.createElement('canvas');
  patch.width = patch.height = 16;
  const p = patch.getContext('2d');
  for (const leaf of leaves) {
    p.clearRect(0, 0, 16, 16);
    p.drawImage(state.image, leaf.x, leaf.y, leaf.size, leaf.size, 0, 0, 16, 16);
    context.drawImage(patch, leaf.x * scale, leaf.y * scale, leaf.size * scale, leaf.size * scale);
  }
}

// The whole picture shrunk until it costs as many 16 x 16 tokens.
function drawResize(canvas, tokens) {
  const context = canvas.getContext('2d');
  fit(canvas);
  const {naturalWidth: w, naturalHeight: h} = state.image;
  const scale = Math.min(1, 16 * Math.sqrt(tokens / (w * h)));
  const small = document.createElement('canvas');
  small.width = Math.max(1, Math.floor(w * scale));
  small.height = Math.max(1, Math.floor(h * scale));
  small.getContext('2d').drawImage(state.image, 0, 0, small.width, small.height);
  context.drawImage(small, 0, 0, canvas.width, canvas.height);
}

// Where the map is highest, in words.
function highest({rows, cols, values}) {
  const top = values.indexOf(Math.max(...values));
  const third = (at, size, words) => words[Math.floor(3 * (at + 0.5) / size)];
  const row = third(Math.floor(top / cols), rows, ['top', 'middle', 'bottom']);
  const col = third(top % cols, cols, ['left', 'centre', 'right']);
  return `${row} ${col}`;
}

function describeStage() {
  const {alt, naturalWidth: w, naturalHeight: h} = state.image;
  const picture = `${alt}, ${w} by ${h} pixels`;
  if (!state.seen) return `${picture}; nothing was asked about it yet`;
  const shown = [$('show-heat').checked && `the relevance map (highest at the ${highest(state.seen.map)})`,
                 $('show-tree').checked && `the quadtree of ${state.seen.kept} tokens`].filter(Boolean);
  return shown.length ? `${picture}, with ${shown.join(' and ')}` : picture;
}

function draw() {
  if (!state.image) return;
  const leaves = state.seen ? state.seen.leaves[state.seen.best] : null;
  drawStage($('stage'), leaves, $('show-heat').checked, $('show-tree').checked);
  $('stage').setAttribute('aria-label', describeStage());
  const how = state.seen ? $('compare').value : 'native';
  const tokens = state.seen && `${how === 'native' ? state.seen.native : state.seen.kept} tokens`;
  if (how === 'native') {
    drawStage($('seen'), null, false, false);
  } else if (how === 'resize') {
    drawResize($('seen'), state.seen.kept);
  } else {
    drawSeen($('seen'), leaves);
  }
  $('compare-count').textContent = tokens || '';
  const kinds = {native: 'in full detail', resize: 'shrunk evenly', seen: 'fine where it looked, coarse elsewhere'};
  $('seen').setAttribute('aria-label', `${state.image.alt} ${kinds[how]}${tokens ? ', ' + tokens : ''}`);
}

// ---- Counting before sending

let waiting = 0;
let counting = null;

function countSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(count, 350);
}

async function count() {
  if (!state.url || !$('question').value.trim()) {
    say('count', '');
    return;
  }
  if (counting) counting.abort();
  counting = new AbortController();
  try {
    const reply = await post('/v1/chat/completions/input_tokens', request({}), counting.signal);
    const tokens = (await reply.json()).image_tokens;
    const share = (100 * tokens.kept / tokens.native).toFixed(1);
    say('count', `${tokens.kept} of ${tokens.native} image tokens (${share} %)`);
  } catch (problem) {
    if (problem.name !== 'AbortError') say('count', '');
  }
}

// ---- Asking

// Takes a text/event-stream in pieces cut anywhere, as the HTML standard reads it; calls on(data) for
// every event that has any. Lines end with LF, CR or CRLF; comments and other fields say nothing here.
function eventReader(on) {
  let rest = '';
  let data = [];
  let returned = false;  // the last piece ended with CR, whose LF may come yet
  const take = (line) => {
    if (line === '') {
      if (data.length > 0) on(data.join('\n'));
      data = [];
    } else if (line === 'data' || line.startsWith('data:')) {
      data.push(line.slice(5).replace(/^ /, ''));
    }
  };
  return (piece) => {
    if (piece === '') return;
    const lines = (rest + (returned ? piece.replace(/^\n/, '') : piece)).split(/\r\n|\r|\n/);
    returned = piece.endsWith('\r');
    rest = lines.pop();
    lines.forEach(take);
  };
}

// Calls on(data) for every event of a stream.
async function events(reply, on) {
  const reader = reply.body.getReader();
  const decoder = new TextDecoder();
  const feed = eventReader((data) => { if (data !== '[DONE]') on(JSON.parse(data)); });
  for (;;) {
    const {done, value} = await reader.read();
    if (done) break;
    feed(decoder.decode(value, {stream: true}));
  }
}

function show(reply) {
  const extra = reply.arrcoc;
  const picture = extra.pictures[extra.picture - 1];
  if (extra.map) {
    state.seen = {leaves: extra.passes.map((pass) => pass.leaves), best: extra.best_pass - 1, map: extra.map,
                  kept: picture.tokens, native: picture.native_tokens};
    $('homunculus').src = picture.homunculus;
    $('homunculus-box').hidden = false;
    const strip = $('strip');
    strip.replaceChildren();
    extra.passes.forEach((pass, i) => {
      const item = document.createElement('li');
      const canvas = document.createElement('canvas');
      canvas.setAttribute('role', 'img');
      canvas.setAttribute('aria-label', `Look ${i + 1}: quadtree of ${pass.tokens} tokens`);
      const words = document.createElement('span');
      const sure = pass.confidence === undefined ? '' : `, ${(100 * pass.confidence).toFixed(0)} % sure`;
      const explored = pass.explore > 0 ? `, ${(100 * pass.explore).toFixed(0)} % curious` : '';
      words.textContent = `${i + 1}: ${pass.answer || '(nothing)'}${sure}, ${pass.tokens} tokens${explored}`;
      if (i === extra.passes.length - 1 && i > 0) words.textContent += `; stopped: ${extra.stopped}`;
      item.append(canvas, words);
      strip.append(item);
      drawStage(canvas, pass.leaves, false, true);
    });
    $('strip-box').hidden = false;
  }
  const times = Object.entries(extra.milliseconds).map(([k, v]) => `${k} ${Math.round(v)} ms`);
  const sure = extra.confidence === undefined
    ? '' : `${(100 * extra.confidence).toFixed(0)} % sure${extra.unsure ? ' (unsure)' : ''}, `;
  $('facts').textContent = `${sure}${extra.tokens} of ${extra.native_tokens} image tokens; ${times.join(', ')}`;
  $('notes').textContent = extra.fallbacks.join('; ');
  say('said', `Answer: ${$('answer').textContent || 'nothing'}. ${sure}${extra.tokens} of ${extra.native_tokens} image tokens.`);
  draw();
  showSavings();
}

// What the server saved since it started, in tokens and, where prices are set, in money.
async function showSavings() {
  try {
    const reply = await fetch('/v1/savings', {headers: headers()});
    if (!reply.ok) return;
    const total = (await reply.json()).total;
    if (!total.native_tokens) return;
    const money = total.saved_dollars === undefined ? '' : `, $${total.saved_dollars.toFixed(2)}`;
    $('savings').textContent = `Since this server started: ${total.saved_tokens} of ` +
      `${total.native_tokens} image tokens saved (${(100 * total.saved_share).toFixed(1)} %)${money}.`;
  } catch (ignored) {
    // The answer is what matters.
  }
}

async function ask() {
  fail('');
  state.asking?.abort();  // only the latest question matters
  const asking = state.asking = new AbortController();
  // Not disabled, which would take the keyboard's focus away.
  $('send').setAttribute('aria-disabled', 'true');
  $('send').textContent = 'Looking …';
  say('said', 'Looking …');
  $('result').hidden = false;
  $('answer').textContent = $('facts').textContent = $('notes').textContent = $('thanks').textContent = '';
  $('rate').hidden = $('rate-hint').hidden = true;
  const body = request({stream: true, stream_options: {include_usage: true}});
  body.arrcoc.map = true;
  try {
    const reply = await post('/v1/chat/completions', body, asking.signal);
    let text = '';
    await events(reply, (data) => {
      if (asking.signal.aborted) return;
      if (data.error) throw new Error(data.error.message);
      const choice = data.choices && data.choices[0];
      if (choice && choice.delta.content) {
        text += choice.delta.content;
        $('answer').textContent = text;
      }
      if (data.arrcoc) {
        state.id = data.arrcoc.id;
        show(data);
      }
    });
    if (!text) $('answer').textContent = '(nothing)';
    $('rate').hidden = $('rate-hint').hidden = !state.log;
  } catch (problem) {
    if (asking.signal.aborted) return;
    $('result').hidden = true;
    fail(problem.message);
  } finally {
    if (state.asking === asking) {
      state.asking = null;
      $('send').textContent = 'Ask';
      ready();
    }
  }
}

async function rate(rating) {
  try {
    await post('/v1/feedback', {id: state.id, rating});
    $('thanks').textContent = 'Thank you.';
  } catch (problem) {
    $('thanks').textContent = problem.message;
  }
}

function mayAsk() {
  return !$('send').disabled && $('send').getAttribute('aria-disabled') !== 'true';
}

function ready() {
  $('send').setAttribute('aria-disabled', 'false');
  $('send').disabled = !state.url || !$('question').value.trim();
}

// Where a picture goes and what is kept, before anybody gives one.
function showPrivacy({upstream, log}) {
  state.log = log || null;
  const days = log && log.days ? `for ${log.days} days` : 'until somebody deletes it';
  const kept = 'question, answer and a small copy of the picture';
  const share = !log || !log.share ? ''
    : ` Of ${log.share < 1 ? `${Number((100 * log.share).toPrecision(2))} % of the questions` : 'every question'}, ` +
      `${kept} are kept here ${days}.`;
  $('where').textContent = (upstream
    ? `Your question and the picture, or views cut from it, are sent on to ${upstream}.`
    : 'Your picture goes to this server and no further.') + share;
  $('rate-hint').textContent = log
    ? `Rating this answer keeps ${kept} in this server's log ${days}.` : '';
}

async function health() {
  try {
    const reply = await fetch('/health');
    const said = await reply.json();
    say('health', reply.ok ? 'ready' : said.status);
    showPrivacy(said);
    if (!reply.ok) setTimeout(health, 1000);
  } catch (ignored) {
    say('health', 'not reachable');
    setTimeout(health, 3000);
  }
}

// ---- Wiring

function wire() {
  $('file').addEventListener('change', () => take($('file').files[0]));
  for (const kind of ['dragenter', 'dragover'])
    document.addEventListener(kind, (e) => { e.preventDefault(); $('drop').classList.add('over'); });
  for (const kind of ['dragleave', 'drop'])
    document.addEventListener(kind, (e) => { e.preventDefault(); $('drop').classList.remove('over'); });
  document.addEventListener('drop', (e) => take(e.dataTransfer.files[0]));
  document.addEventListener('paste', (e) => {
    const item = [...e.clipboardData.items].find((i) => i.kind === 'file');
    if (item) take(item.getAsFile());
  });
  $('form').addEventListener('submit', (e) => { e.preventDefault(); if (mayAsk()) ask(); });
  $('question').addEventListener('input', () => { ready(); countSoon(); });
  $('budget').addEventListener('input', () => { $('budget-value').textContent = $('budget').value; countSoon(); });
  for (const id of ['policy', 'passes', 'key']) $(id).addEventListener('change', countSoon);
  for (const id of ['show-heat', 'show-tree', 'compare']) $(id).addEventListener('change', draw);
  $('up').addEventListener('click', () => rate('up'));
  $('down').addEventListener('click', () => rate('down'));
  health();
}

if (globalThis.document) wire();  // else a test of the functions above
