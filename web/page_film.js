// A film over time: small frames on a strip, the tokens of every frame, and which one answered.
import {number} from './page_options.js';

const at = (film, frame) => `${(frame / film.fps).toFixed(1)} s`;

function element(tag, className, text) {
  const out = document.createElement(tag);
  out.className = className;
  if (text) out.textContent = text;
  return out;
}

function summary(film) {
  const got = film.timeline.tokens.filter((tokens) => tokens > 0).length;
  return `Frame ${film.frame + 1} of ${film.frames} (${at(film, film.frame)}) was asked: its tokens are counted above. Following the film gave ` +
    `${number(film.tokens)} tokens to ${got} frames.` +
    (film.more ? ` The film is too long: only its first ${number(film.frames)} frames were watched.` : '');
}

// The strip with the frame that was asked at its place; tokens: from a frame to the next on the strip.
function strip(film, asked) {
  const frames = film.strip.map(({frame, image}) => ({frame, image}));
  const same = frames.find(({frame}) => frame === film.frame);
  if (same) same.asked = true;
  else frames.push({frame: film.frame, asked: true});
  frames.sort((a, b) => a.frame - b.frame);
  const list = element('ol', 'frames');
  list.setAttribute('aria-label', 'Frames');
  frames.forEach((one, i) => {
    const end = i + 1 < frames.length ? frames[i + 1].frame : film.frames;
    const tokens = film.timeline.tokens.slice(one.frame, end).reduce((sum, n) => sum + n, 0);
    const line = element('li', one.asked ? 'asked' : '');
    const picture = one.image ? new Image() : document.createElement('canvas');
    if (one.image) {
      picture.src = one.image;
      picture.alt = `Frame ${one.frame + 1}`;
    } else {
      picture.setAttribute('role', 'img');
      picture.setAttribute('aria-label', `Frame ${one.frame + 1}`);
      picture.width = 160;
      picture.height = asked ? Math.max(1, Math.round(160 * asked.naturalHeight / asked.naturalWidth)) : 90;
      if (asked) picture.getContext('2d').drawImage(asked, 0, 0, picture.width, picture.height);
    }
    line.append(picture, element('span', 'when', at(film, one.frame)), element('span', 'facts', `${tokens} tokens`));
    if (one.asked) line.append(element('span', 'mark', 'asked'));
    list.append(line);
  });
  return list;
}

// The page's colours as canvases know them.
function colours(canvas) {
  const out = ['ink', 'quiet', 'accent', 'bar'].map((name) => {
    canvas.style.color = `var(--${name})`;
    return [name, getComputedStyle(canvas).color];
  });
  canvas.style.color = '';
  return Object.fromEntries(out);
}

function drawTimeline(canvas, film, cursor) {
  const {tokens, relevance, cuts} = film.timeline;
  const {accent, bar, ink, quiet} = colours(canvas);
  canvas.width = 960;
  canvas.height = 150;
  const context = canvas.getContext('2d');
  const base = 140, high = 120;
  const x = (frame) => 960 * frame / film.frames;
  const most = Math.max(1, ...tokens), strongest = Math.max(1e-6, ...relevance);
  context.fillStyle = bar;
  tokens.forEach((n, i) => context.fillRect(x(i), base - high * n / most, Math.max(1, 960 / film.frames - 1), high * n / most));
  context.strokeStyle = ink;
  context.lineWidth = 2;
  context.beginPath();
  relevance.forEach((value, i) => context.lineTo(x(i + 0.5), base - high * value / strongest));
  context.stroke();
  const upright = (frame, colour, dash, width) => {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x(frame), 0);
    context.lineTo(x(frame), 150);
    context.stroke();
    context.setLineDash([]);
  };
  cuts.forEach((frame) => upright(frame, quiet, [6, 6], 2));
  upright(film.frame + 0.5, accent, [], 4);
  if (cursor !== film.frame) upright(cursor + 0.5, ink, [2, 4], 2);
}

function describe(film) {
  const {tokens, cuts} = film.timeline;
  const cut = cuts.length ? `cuts at frames ${cuts.slice(0, 8).map((n) => n + 1).join(', ')}${cuts.length > 8 ? ' and more' : ''}` : 'no cuts';
  return `Timeline of ${film.frames} frames: at most ${Math.max(...tokens)} tokens a frame, ${cut}; frame ${film.frame + 1} was asked`;
}

let numbered = 0;

// Fills `place`; asked: the frame's picture, or null. Returns what draws it again.
export function showFilm(place, film, asked) {
  if (!film.timeline) return () => {};
  const canvas = element('canvas', 'timeline');
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', describe(film));
  const row = element('div', 'row walk');
  const slider = element('input', '');
  slider.type = 'range';
  slider.id = `frame-${++numbered}`;
  slider.max = film.frames - 1;
  slider.value = film.frame;
  const label = element('label', '', 'Frame');
  label.htmlFor = slider.id;
  const said = element('output', 'facts');
  said.htmlFor = slider.id;
  const draw = () => {
    const frame = Number(slider.value);
    drawTimeline(canvas, film, frame);
    said.textContent = `${frame + 1} (${at(film, frame)}): ${film.timeline.tokens[frame]} tokens, ` +
      `relevance ${film.timeline.relevance[frame].toFixed(2)}${film.timeline.cuts.includes(frame) ? ', after a cut' : ''}`;
  };
  slider.addEventListener('input', draw);
  row.append(label, slider, said);
  const legend = element('p', 'facts legend', 'Bars: tokens of a frame. Line: how much it says about the question. Dashes: cuts. Thick line: the frame that was asked.');
  place.replaceChildren(element('p', 'film-facts', summary(film)), strip(film, asked), canvas, legend, row);
  place.hidden = false;
  draw();
  return draw;
}
