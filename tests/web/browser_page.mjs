// What the tests of the page share: a browser, a page that complains, and questions.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {chromium} from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export class Pages {
  constructor(browser) {
    this.browser = browser;
    this.complaints = [];
  }

  static async launch() {
    return new Pages(await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    }));
  }

  // options: of a context; at: what follows the address.
  async open(url, {at = '/', ...options} = {}) {
    const context = await this.browser.newContext({viewport: {width: 1280, height: 940}, colorScheme: 'light', ...options});
    const page = await context.newPage();
    page.setDefaultTimeout(300000);
    // A violated content policy, an outside request or an exception ends up here.
    page.on('console', (m) => {
      if (m.type() === 'error' && !/status of (4|5)\d\d|net::ERR_(FAILED|CONNECTION)/.test(m.text())) this.complaints.push(m.text());
    });
    page.on('pageerror', (e) => this.complaints.push(String(e)));
    page.on('request', (r) => {
      if (!r.url().startsWith(url) && !/^(data|blob):/.test(r.url())) this.complaints.push('outside: ' + r.url());
    });
    await page.goto(url + at);
    await page.locator('#health', {hasText: /ready|loading/}).waitFor();
    return page;
  }
}

// Ratings are offered only where they are kept.
export const answered = (page) => page.waitForFunction(() =>
  document.getElementById('send').textContent === 'Ask' && document.querySelector('.card .facts').textContent);

export async function give(page, files, count = [files].flat().length) {
  await page.setInputFiles('#file', files);
  await page.locator('#items li').nth(count - 1).waitFor();
}

export async function ask(page, text, second) {
  await page.fill('#question', text);
  if (second) await page.fill('#question2', second);
  await page.click('#send');
  await answered(page);
  return page.locator('.card .answer').first().textContent();
}

// What a canvas shows, to compare.
export const look = (page, selector) => page.locator(selector).first().evaluate((canvas) => canvas.toDataURL());

// Files as somebody drops or pastes them.
export async function hand(page, kind, ...files) {
  const given = files.map((path) => ({name: path.split('/').pop(), base64: readFileSync(path).toString('base64')}));
  await page.evaluate(([how, all]) => {
    const data = new DataTransfer();
    for (const {name, base64} of all)
      data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name, {type: 'image/jpeg'}));
    document.dispatchEvent(how === 'drop' ? new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})
      : new ClipboardEvent('paste', {clipboardData: data, bubbles: true}));
  }, [kind, given]);
}

// Labels, contrast, roles, names: fails with what axe-core finds. And nothing may stick out sideways.
export async function accessible(page, where) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, {resultTypes: ['violations']}));
  assert.ok(found.passes.length > 10, 'axe has run');
  assert.deepEqual(found.violations.map(({id, help, nodes}) => `${id}: ${help}: ${nodes.map(({target}) => target.join(' ')).join(', ')}`), [], where);
  const nameless = await page.evaluate(() => [...document.querySelectorAll('input, select')]
    .filter((one) => one.checkVisibility() && one.labels.length === 0).map((one) => one.id || one.outerHTML));
  assert.deepEqual(nameless, [], where + ': a placeholder is no label');
  const [width, most] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(width <= most, `${where}: nothing sticks out: ${width} of ${most}`);
}

export const shoot = (page, path) => page.screenshot({path, type: 'jpeg', quality: 60});
