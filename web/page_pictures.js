// The pictures and films of a question: chosen, dropped or pasted; each may be moved or removed.
import {$, fail, say, server} from './page_api.js';

export const items = [];  // {kind: 'picture' or 'film', name, url, image}; image: decoded, or null

const ENDINGS = {heic: 'image/heic', heif: 'image/heif', tif: 'image/tiff', tiff: 'image/tiff', mp4: 'video/mp4', mkv: 'video/x-matroska',
                 mov: 'video/quicktime', avi: 'video/x-msvideo', webm: 'video/webm'};
// What every browser shows: where it does not, the file is broken.
const USUAL = /^image\/(jpeg|png|webp|gif|bmp)$/;

let changed = () => {};
export function onChange(f) { changed = f; }

function typeOf(file) {
  return file.type || ENDINGS[file.name.split('.').pop().toLowerCase()] || '';
}

function read(file, type) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(new Error(`${file.name} cannot be read.`));
    reader.onload = () => resolve(reader.result.replace(/^data:[^;,]*/, 'data:' + type));
    reader.readAsDataURL(file);
  });
}

export function decode(url) {
  return new Promise((resolve) => {
    const image = new Image();
    image.onerror = () => resolve(null);
    image.onload = () => resolve(image);
    image.src = url;
  });
}

// The first frame as far as this browser knows the film; null where it does not.
function firstFrame(file) {
  return new Promise((resolve) => {
    const video = document.createElement('video');
    const url = URL.createObjectURL(file);
    const done = (found) => { URL.revokeObjectURL(url); resolve(found); };
    video.muted = true;
    video.preload = 'auto';
    video.onerror = () => done(null);
    video.onloadeddata = () => {
      const canvas = document.createElement('canvas');
      canvas.width = video.videoWidth;
      canvas.height = video.videoHeight;
      canvas.getContext('2d').drawImage(video, 0, 0);
      decode(canvas.toDataURL('image/jpeg')).then(done);
    };
    video.src = url;
  });
}

async function itemOf(file) {
  const name = file.name || 'pasted picture';
  const type = typeOf(file);
  const kind = type.startsWith('video/') ? 'film' : 'picture';
  if (kind === 'picture' && !type.startsWith('image/')) throw new Error(`${name} is neither a picture nor a film.`);
  const url = await read(file, type);
  const image = kind === 'film' ? await firstFrame(file) : await decode(url);
  if (!image && USUAL.test(type)) throw new Error(`${name} cannot be shown: it is broken, or no picture.`);
  return {kind, name, url, image};
}

function requireRoom(item) {
  const {pictures, body_mb: most} = server.limits;
  if (items.length >= pictures) throw new Error(`This server takes at most ${pictures} pictures and films a question.`);
  const megabytes = [item, ...items].reduce((sum, {url}) => sum + url.length, 2048) / 1048576;
  if (megabytes > most)
    throw new Error(`${item.name} is too large: the question would have ${megabytes.toFixed(1)} MB, this server takes ${most}.`);
}

// Adds files in their order; the first that cannot be taken ends it, with one line. Returns nothing: see items.
let last = Promise.resolve();
export function take(files) {
  const given = [...files];
  if (given.length === 0) return;
  fail('');
  last = last.then(async () => {
    const before = items.length;
    try {
      for (const file of given) {
        const item = await itemOf(file);
        requireRoom(item);
        items.push(item);
      }
    } catch (problem) {
      fail(problem.message);
    }
    if (items.length > before) show();
  });
}

export function clear() {
  items.length = 0;
  show();
}

function remove(i) {
  const [gone] = items.splice(i, 1);
  show();
  say('moved', `${gone.name} removed.`);
  const next = $('items').children[Math.min(i, items.length - 1)];
  (next ? next.querySelector('.remove') : $('file')).focus();
}

function move(i, by) {
  const to = i + by;
  if (to < 0 || to >= items.length) return;
  items.splice(to, 0, ...items.splice(i, 1));
  show();
  say('moved', `${items[to].name} is now number ${to + 1} of ${items.length}.`);
  const buttons = [...$('items').children[to].querySelectorAll(by < 0 ? '.earlier, .later' : '.later, .earlier')];
  const wanted = buttons.find((b) => b.className === (by < 0 ? 'earlier' : 'later') && !b.disabled);
  (wanted ?? buttons.find((b) => !b.disabled)).focus();
}

function button(kind, sign, words, act, disabled) {
  const out = document.createElement('button');
  out.type = 'button';
  out.className = kind;
  out.textContent = sign;
  out.disabled = disabled;
  out.setAttribute('aria-label', words);
  out.title = words;
  out.addEventListener('click', act);
  return out;
}

function tile(item) {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 96;
  canvas.setAttribute('aria-hidden', 'true');  // its name stands beside it
  const context = canvas.getContext('2d');
  if (!item.image) {
    context.fillStyle = '#808080';
    context.font = '48px sans-serif';
    context.textAlign = 'center';
    context.fillText(item.kind === 'film' ? '▶' : '?', 48, 64);
    return canvas;
  }
  const {naturalWidth: w, naturalHeight: h} = item.image;
  const scale = Math.min(96 / w, 96 / h);
  context.drawImage(item.image, (96 - w * scale) / 2, (96 - h * scale) / 2, w * scale, h * scale);
  return canvas;
}

export function sizeOf(item) {
  if (item.kind === 'film') return `film, ${(0.75 * item.url.length / 1048576).toFixed(1)} MB`;
  return item.image ? `${item.image.naturalWidth} × ${item.image.naturalHeight}` : 'this browser shows it once it is asked';
}

function show() {
  $('items').replaceChildren(...items.map((item, i) => {
    const line = document.createElement('li');
    const words = document.createElement('span');
    words.className = 'name';
    const size = document.createElement('span');
    size.className = 'facts';
    size.textContent = sizeOf(item);
    words.append(item.name, size);
    line.append(tile(item), words);
    if (items.length > 1)
      line.append(button('earlier', '↑', `Move ${item.name} up`, () => move(i, -1), i === 0),
                  button('later', '↓', `Move ${item.name} down`, () => move(i, 1), i === items.length - 1));
    line.append(button('remove', '×', `Remove ${item.name}`, () => remove(i), false));
    return line;
  }));
  $('items').hidden = items.length === 0;
  changed();
}

export function wirePictures() {
  $('file').addEventListener('change', () => {
    take($('file').files);
    $('file').value = '';  // the same file may be chosen again
  });
  for (const kind of ['dragenter', 'dragover'])
    document.addEventListener(kind, (e) => { e.preventDefault(); $('drop').classList.add('over'); });
  for (const kind of ['dragleave', 'drop'])
    document.addEventListener(kind, (e) => { e.preventDefault(); $('drop').classList.remove('over'); });
  document.addEventListener('drop', (e) => take(e.dataTransfer.files));
  document.addEventListener('paste', (e) => take(e.clipboardData.files));
}
