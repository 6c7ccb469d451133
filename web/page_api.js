// Requests to this server, and what it says of itself.
import {eventReader} from './page_events.js';

export const $ = (id) => document.getElementById(id);

// Sets the text of a live region only where it changes: every setting is read out.
export function say(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

export function fail(message) {
  say('error', message);
  $('error').hidden = !message;
}

// What it keeps of an answer and what a request may hold, from /health.
export const server = {log: null, limits: {body_mb: Infinity, pictures: Infinity}};

function headers(more) {
  return $('key').value ? {...more, Authorization: 'Bearer ' + $('key').value} : {...more};
}

async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch (problem) {
    if (problem.name === 'AbortError') throw problem;
    say('health', 'not reachable');
    setTimeout(health, 3000);
    throw new Error('The server cannot be reached.');
  }
}

// The reply, or an Error with the server's own words.
async function checked(reply) {
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

export async function post(path, body, signal) {
  return checked(await reach(path, {method: 'POST', headers: headers({'Content-Type': 'application/json'}),
                                    body: JSON.stringify(body), signal}));
}

// The reply, or null where there is none: for what a page can do without.
export async function get(path) {
  try {
    const reply = await fetch(path, {headers: headers({})});
    return reply.ok ? reply : null;
  } catch (ignored) {
    return null;
  }
}

// Calls on(data) for every event of a stream.
export async function events(reply, on) {
  const reader = reply.body.getReader();
  const decoder = new TextDecoder();
  const feed = eventReader((data) => { if (data !== '[DONE]') on(JSON.parse(data)); });
  for (;;) {
    const {done, value} = await reader.read().catch((problem) => {
      throw problem.name === 'AbortError' ? problem : new Error('The connection to the server broke.');
    });
    if (done) break;
    feed(decoder.decode(value, {stream: true}));
  }
}

// Where a picture goes and what is kept, before anybody gives one.
function showPrivacy({upstream, log, limits}) {
  server.log = log || null;
  server.limits = limits || server.limits;
  const days = log && log.days ? `for ${log.days} days` : 'until somebody deletes it';
  const kept = 'question, answer and a small copy of the picture';
  const share = !log || !log.share ? ''
    : ` Of ${log.share < 1 ? `${Number((100 * log.share).toPrecision(2))} % of the questions` : 'every question'}, ` +
      `${kept} are kept here ${days}.`;
  $('where').textContent = (upstream
    ? `Your question and the picture, or views cut from it, are sent on to ${upstream}.`
    : 'Your picture goes to this server and no further.') + share;
  server.hint = log ? `Rating this answer keeps ${kept} in this server's log ${days}.` : '';
}

export async function health() {
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
