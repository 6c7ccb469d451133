// One question's card: its answer, what it cost, and every picture with its map and tokens.
import {$, events, get, post, server} from './page_api.js';
import {describeSeen, describeStage, drawNothing, drawSeen, drawStage} from './page_drawing.js';
import {showFilm} from './page_film.js';
import {chosen, dollars, number, price} from './page_options.js';
import {decode, items} from './page_pictures.js';

const percent = (share) => `${(100 * share).toFixed(0)} %`;

export function request(question, extra) {
  const parts = items.map(({kind, url}) =>
    kind === 'film' ? {type: 'video_url', video_url: {url}} : {type: 'image_url', image_url: {url}});
  return {messages: [{role: 'user', content: [...parts, {type: 'text', text: question}]}], arrcoc: chosen(), ...extra};
}

function copy(template) {
  return $(template).content.firstElementChild.cloneNode(true);
}

export class Card {
  constructor() {
    this.root = copy('card');
    this.part = (name) => this.root.querySelector('.' + name);
    this.id = '';        // of the answer, for ratings
    this.pictures = [];  // {item, image, shown, root, film, redraw}
    this.cost = null;    // {kept, native}
    this.part('up').addEventListener('click', () => this.rate('up'));
    this.part('down').addEventListener('click', () => this.rate('down'));
    this.reset();
  }

  // The pictures as they are, nothing asked.
  reset() {
    this.stop();
    this.extra = this.cost = null;
    this.names = new Map();  // pictures that the server gave back
    for (const name of ['words', 'answer', 'facts', 'notes', 'thanks']) this.part(name).textContent = '';
    for (const name of ['reply', 'rate', 'rate-hint', 'looks', 'cost']) this.part(name).hidden = true;
    this.pictures = items.map((item) => ({item, image: item.kind === 'film' ? null : item.image, preview: item.image,
                                          shown: null, root: copy('picture'), redraw: () => {}}));
    this.part('pictures').replaceChildren(...this.pictures.map(({root}) => root));
    this.draw();
  }

  stop() {
    if (!this.asking) return;
    this.asking.abort();
    this.asking = null;
    this.part('answer').textContent = 'Stopped.';
  }

  // Resolves with {answer, model} or rejects; a newer question, or stop(), rejects with an AbortError.
  async ask(question) {
    this.reset();
    const asking = this.asking = new AbortController();
    this.part('reply').hidden = false;
    this.part('words').textContent = question;
    this.part('answer').textContent = items.some(({kind}) => kind === 'film') ? 'Watching …' : 'Looking …';
    const body = request(question, {stream: true, stream_options: {include_usage: true}});
    body.arrcoc.map = true;
    try {
      const reply = await post('/v1/chat/completions', body, asking.signal);
      let text = '';
      let model = '';
      let whole = false;
      await events(reply, (data) => {
        if (asking.signal.aborted) return;
        if (data.error) throw new Error(data.error.message);
        model = data.model ?? model;
        whole ||= Boolean(data.choices?.[0]?.finish_reason || data.arrcoc?.answer !== undefined);
        const piece = data.choices?.[0]?.delta.content;
        if (piece) {
          text += piece;
          this.part('answer').textContent = text;
        }
        if (data.arrcoc) this.show(data.arrcoc);
      });
      asking.signal.throwIfAborted();
      if (!whole) throw new Error('The answer broke off.');
      if (!this.extra) this.show({});  // a proxy passes films on without a look
      this.part('answer').textContent = text || '(nothing)';
      this.part('rate-hint').textContent = server.hint;
      this.part('rate').hidden = this.part('rate-hint').hidden = !server.log;
      return {answer: text, model};
    } catch (problem) {
      if (!asking.signal.aborted) this.part('reply').hidden = true;
      throw problem;
    } finally {
      if (this.asking === asking) this.asking = null;
    }
  }

  // extra: the `arrcoc` object of a reply, or of the first look, which has no answer yet.
  show(extra) {
    this.extra = extra;
    this.id = extra.id ?? this.id;
    const read = extra.answer !== undefined;
    this.pictures.forEach((picture, i) => {
      const said = extra.pictures?.[i];
      if (!said) return;
      const answered = read && i === extra.picture - 1;
      const pass = said.passes?.[answered ? extra.best_pass - 1 : 0];
      const film = extra.films?.find((one) => one.picture === i + 1) ?? null;
      const several = extra.pictures.length > 1;
      picture.shown = {tokens: said.tokens, native: said.native_tokens, canvas: said.canvas ?? said, map: pass?.map,
                       leaves: pass?.leaves ?? [], crops: pass?.crops ?? [], answered: answered && several,
                       area: picture.shown?.area};
      if (film) this.showFilm(picture, film);
      if (!picture.image && said.name) this.fetch(picture, said.name, film);
      if (said.homunculus) decode(said.homunculus).then((area) => {
        if (picture.shown) picture.shown.area = area;
        this.draw();
      });
    });
    this.showFacts(extra, read);
    this.showLooks(extra, read);
    this.draw();
  }

  showFilm(picture, film) {
    picture.film = film;
    picture.redraw = showFilm(picture.root.querySelector('.film'), film, picture.image);
  }

  // What this browser cannot decode, or a film's frame: the server has it.
  async fetch(picture, name, film) {
    if (picture.fetched === name) return;
    picture.fetched = name;
    if (!this.names.has(name)) this.names.set(name, this.fetched(name));  // two of the same are fetched once
    const image = await this.names.get(name);
    if (!image || !this.pictures.includes(picture)) return;  // meanwhile something else may be asked
    picture.image = image;
    if (film) this.showFilm(picture, film);
    this.draw();
    this.showLooks(this.extra, this.extra.answer !== undefined);
  }

  async fetched(name) {
    const reply = await get('/v1/pictures/' + name);
    const blob = reply && await reply.blob();
    if (!blob) return null;
    const url = URL.createObjectURL(blob);
    const image = await decode(url);
    URL.revokeObjectURL(url);
    return image;
  }

  showFacts(extra, read) {
    const {tokens, native_tokens: native} = extra.tokens === undefined ? extra.conversation ?? {} : extra;
    const times = Object.entries(extra.milliseconds ?? {}).map(([k, v]) => `${k} ${Math.round(v)} ms`);
    this.sure = extra.confidence === undefined ? '' : `${percent(extra.confidence)} sure${extra.unsure ? ' (unsure)' : ''}, `;
    const from = read && extra.pictures?.length > 1 ? `from ${this.pictures[extra.picture - 1]?.item.name}, ` : '';
    this.cost = tokens === undefined ? null : {kept: tokens, native};
    this.counted = this.cost ? `${tokens} of ${native} image tokens` : 'nothing was counted here';
    this.part('facts').textContent = `${this.sure}${from}${this.counted}${times.length ? '; ' : ''}${times.join(', ')}`;
    this.part('notes').textContent = (extra.fallbacks ?? []).join('; ');
    this.showCost();
  }

  showCost() {
    this.part('cost').hidden = !this.cost;
    if (!this.cost) return;
    const priced = price() !== null;
    for (const money of this.root.querySelectorAll('.cost .money')) money.hidden = !priced;
    for (const [row, tokens] of [['natively', this.cost.native], ['here', this.cost.kept]]) {
      const [count, one, thousand] = this.part(row).querySelectorAll('td');
      count.textContent = number(tokens);
      if (priced) {
        one.textContent = dollars(tokens);
        thousand.textContent = dollars(tokens, 1000);
      }
    }
  }

  showLooks(extra, read) {
    const passes = extra.passes ?? [];
    this.part('looks').hidden = !read || passes.length === 0 || (passes.length < 2 && chosen().passes < 2);
    const picture = this.pictures[(extra.picture ?? 1) - 1];
    if (this.part('looks').hidden || !picture?.image) return;
    this.part('strip').replaceChildren(...passes.map((pass, i) => {
      const item = document.createElement('li');
      const canvas = document.createElement('canvas');
      canvas.setAttribute('role', 'img');
      canvas.setAttribute('aria-label', `Look ${i + 1}: quadtree of ${pass.tokens} tokens`);
      const words = document.createElement('span');
      const sure = pass.confidence === undefined ? '' : `, ${percent(pass.confidence)} sure`;
      const explored = pass.explore > 0 ? `, ${percent(pass.explore)} curious` : '';
      words.textContent = `${i + 1}: ${pass.answer || '(nothing)'}${sure}, ${pass.tokens} tokens${explored}`;
      if (i === passes.length - 1 && i > 0) words.textContent += `; stopped: ${extra.stopped}`;
      item.append(canvas, words);
      drawStage(canvas, picture.image, {...picture.shown, leaves: pass.leaves ?? [], crops: pass.crops ?? []}, {tree: true});
      return item;
    }));
  }

  draw() {
    const over = {heat: $('show-heat').checked, tree: $('show-tree').checked};
    this.pictures.forEach(({item, image, preview, shown, root, film, redraw}, i) => {
      const name = film ? `frame ${film.frame + 1} of ${item.name}` : item.name;
      const count = shown ? ` – ${number(shown.tokens)} of ${number(shown.native)} tokens` : '';
      root.querySelector('.title').textContent = `${items.length > 1 ? `${i + 1}. ` : ''}${name}${count}`;
      root.querySelector('.mark').hidden = !shown?.answered;
      const [stage, seen] = root.querySelectorAll('canvas.stage, canvas.seen');
      const how = shown ? $('view').value : 'native';
      const visible = image ?? (shown ? null : preview);
      if (visible) drawStage(stage, visible, image && shown, over);
      else drawNothing(stage);
      if (visible) drawSeen(seen, visible, shown, how);
      else drawNothing(seen);
      stage.setAttribute('aria-label', describeStage(name, visible, shown, over));
      seen.setAttribute('aria-label', describeSeen(name, shown, how));
      root.querySelector('.how').textContent = $('view').selectedOptions[0].textContent;
      root.querySelector('.second').hidden = !shown;
      redraw();
    });
  }

  async rate(rating) {
    try {
      await post('/v1/feedback', {id: this.id, rating});
      this.part('thanks').textContent = 'Thank you.';
    } catch (problem) {
      this.part('thanks').textContent = problem.message;
    }
  }
}
