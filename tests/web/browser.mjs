// The page in a real browser: node browser.mjs PATH_OF_ARRCOC FOLDER_FOR_SCREENSHOTS
import assert from 'node:assert/strict';
import {mkdirSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {chromium} from 'playwright-core';
import {picturePath, run, serve} from './server.mjs';

const shots = process.argv[3];
mkdirSync(shots, {recursive: true});
const folder = mkdtempSync(tmpdir() + '/arrcoc-web-');
const server = await serve(process.argv[2], '--log', folder + '/log.db');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
const complaints = [];
const page = await open({width: 1280, height: 940});

async function open(viewport) {
  const context = await browser.newContext({viewport, colorScheme: 'light'});
  const one = await context.newPage();
  one.setDefaultTimeout(120000);
  // A violated content policy, an outside request or an exception ends up here.
  one.on('console', (m) => { if (m.type() === 'error' && !/status of (4|5)\d\d|net::ERR_FAILED/.test(m.text())) complaints.push(m.text()); });
  one.on('pageerror', (e) => complaints.push(String(e)));
  one.on('request', (r) => {
    if (!r.url().startsWith(server.url) && !/^(data|blob):/.test(r.url())) complaints.push('outside: ' + r.url());
  });
  await one.goto(server.url + '/');
  return one;
}

// What a canvas shows, small enough to compare.
const look = (id, where = page) => where.locator('#' + id).evaluate((canvas) => canvas.toDataURL());
// Ratings are offered only where they are kept.
const answered = (where = page) => where.waitForFunction(() =>
  document.getElementById('send').textContent === 'Ask' && document.getElementById('facts').textContent);

async function ask(text, where = page) {
  await where.fill('#question', text);
  await where.click('#send');
  await answered(where);
  return where.textContent('#answer');
}

try {
  await run({
    async 'says that it is ready'() {
      await page.locator('#health', {hasText: 'ready'}).waitFor();
      assert.ok(await page.isDisabled('#send'), 'nothing to ask yet');
    },
    async 'takes a picture and answers'() {
      await page.setInputFiles('#file', picturePath('receipt.jpg'));
      await page.locator('#picked', {hasText: '457 × 887'}).waitFor();
      assert.equal(await ask('What is the total?'), '33.10');
      assert.match(await page.textContent('#facts'), /% sure.* of 1624 image tokens/);
      assert.ok(await page.isVisible('#homunculus'));
      await page.screenshot({path: shots + '/page_total.jpg', type: 'jpeg', quality: 80});
    },
    async 'describes its pictures'() {
      const label = (id) => page.getAttribute('#' + id, 'aria-label');
      assert.equal(await page.getByRole('img').count(), await page.locator('canvas:visible, img:visible').count());
      assert.match(await label('stage'), /^receipt.jpg, 457 by 887 pixels, with the relevance map \(highest at the \w+ \w+\) and the quadtree of \d+ tokens$/);
      assert.match(await label('seen'), /^receipt.jpg fine where it looked, coarse elsewhere, \d+ tokens$/);
      await page.uncheck('#show-heat');
      await page.selectOption('#compare', 'native');
      assert.match(await label('stage'), /pixels, with the quadtree of \d+ tokens$/);
      assert.equal(await label('seen'), 'receipt.jpg in full detail, 1624 tokens');
      await page.check('#show-heat');
      await page.selectOption('#compare', 'seen');
    },
    async 'reads out an answer once, however it comes'() {
      const event = (data) => `event: x\r\ndata: ${JSON.stringify(data)}\r\n\r\n: keep-alive\r\n\r\n`;
      const pieces = ['thir', 'ty ', 'three'].map((content) => event({id: 'i', choices: [{delta: {content}}]}));
      const arrcoc = {id: 'i', picture: 1, pictures: [{tokens: 9, native_tokens: 10}], tokens: 9, native_tokens: 10, milliseconds: {}, fallbacks: []};
      await page.route('**/v1/chat/completions', (route) => route.fulfill({contentType: 'text/event-stream',
        body: ': hello\r\n\r\n' + pieces.join('') + event({choices: [], arrcoc}) + 'data: [DONE]\r\n\r\n'}));
      await page.evaluate(() => {
        window.announced = [];
        for (const region of document.querySelectorAll('[role=status], [role=alert], [aria-live]'))
          new MutationObserver(() => announced.push(region.id + ': ' + region.textContent))
              .observe(region, {childList: true, characterData: true, subtree: true});
      });
      assert.equal(await ask('What is the total?'), 'thirty three');
      await page.unroute('**/v1/chat/completions');
      await page.evaluate(() => health());
      const announced = (await page.evaluate(() => window.announced)).filter((one) => !one.startsWith('count'));
      assert.deepEqual(announced, ['said: Looking …', 'said: Answer: thirty three. 9 of 10 image tokens.']);
      await page.fill('#question', '');
    },
    async 'shows another map and quadtree for another question'() {
      const before = [await look('stage'), await look('seen'), await page.getAttribute('#homunculus', 'src')];
      assert.equal(await ask('What is the date?'), '10 jul 2024');
      const after = [await look('stage'), await look('seen'), await page.getAttribute('#homunculus', 'src')];
      after.forEach((shown, i) => assert.notEqual(shown, before[i]));
      await page.screenshot({path: shots + '/page_date.jpg', type: 'jpeg', quality: 80});
    },
    async 'lets map and quadtree be switched off'() {
      const both = await look('stage');
      await page.uncheck('#show-heat');
      const tree = await look('stage');
      await page.uncheck('#show-tree');
      const plain = await look('stage');
      assert.equal(new Set([both, tree, plain]).size, 3);
      await page.check('#show-heat');
      await page.check('#show-tree');
      assert.equal(await look('stage'), both);
    },
    async 'compares with a plain resize and with everything'() {
      const shown = new Set();
      for (const how of ['seen', 'resize', 'native']) {
        await page.selectOption('#compare', how);
        shown.add(await look('seen'));
      }
      assert.equal(shown.size, 3);
      assert.match(await page.textContent('#compare-count'), /1624 tokens/);
      await page.selectOption('#compare', 'seen');
    },
    async 'counts live while the budget slides'() {
      const counts = [];
      for (const budget of ['64', '300']) {
        await page.locator('#budget').fill(budget);
        await page.locator('#count', {hasText: 'of 1624 image tokens'}).waitFor();
        await page.waitForFunction((b) => {
          const kept = Number(document.getElementById('count').textContent.split(' ')[0]);
          return kept <= b && kept > b - 12;
        }, Number(budget));
        counts.push(await page.textContent('#count'));
        assert.equal(await page.textContent('#budget-value'), budget);
      }
      assert.notEqual(counts[0], counts[1]);
    },
    async 'shows the looks as a strip'() {
      await page.selectOption('#passes', '3');
      await ask('What is the name of the cashier?');
      const items = await page.locator('#strip li').count();
      assert.ok(items >= 1 && items <= 3, String(items));
      await page.selectOption('#passes', '1');
    },
    async 'says where a picture goes, and what a rating keeps before one rates'() {
      assert.match(await page.textContent('#where'),
                   /goes to this server and no further\. Of 0\.1 % of the questions, .* 30 days/);
      assert.ok(await page.isVisible('#rate-hint'));
      assert.match(await page.textContent('#rate-hint'), /keeps question, answer .* for 30 days/);
      const proxy = await serve(process.argv[2], '--upstream', server.url);
      try {
        const other = await (await browser.newContext()).newPage();
        await other.goto(proxy.url + '/');
        await other.locator('#where', {hasText: 'sent on to 127.0.0.1.'}).waitFor();
        await other.setInputFiles('#file', picturePath('receipt.jpg'));
        await other.fill('#question', 'What is the total?');
        await other.click('#send');
        await other.locator('#send', {hasText: 'Ask'}).waitFor();
        await other.locator('#facts', {hasText: 'image tokens'}).waitFor();
        assert.ok(!await other.isVisible('#rate'), 'it keeps nothing');
        assert.ok(!await other.isVisible('#rate-hint'));
        await other.context().close();
      } finally {
        await proxy.stop();
      }
    },
    async 'keeps a rating'() {
      await page.click('#down');
      await page.locator('#thanks', {hasText: 'Thank you.'}).waitFor();
    },
    async 'takes a pasted picture'() {
      const bytes = readFileSync(picturePath('chart.jpg')).toString('base64');
      await page.evaluate((base64) => {
        const raw = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
        const data = new DataTransfer();
        data.items.add(new File([raw], 'pasted.jpg', {type: 'image/jpeg'}));
        document.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true}));
      }, bytes);
      await page.locator('#picked', {hasText: 'pasted.jpg'}).waitFor();
      assert.ok((await ask('What is the value of South Africa?')).length > 0);
    },
    async 'takes a dropped picture'() {
      const bytes = readFileSync(picturePath('street.jpg')).toString('base64');
      await page.evaluate((base64) => {
        const raw = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
        const data = new DataTransfer();
        data.items.add(new File([raw], 'dropped.jpg', {type: 'image/jpeg'}));
        document.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));
      }, bytes);
      await page.locator('#picked', {hasText: 'dropped.jpg'}).waitFor();
    },
    async 'says what went wrong'() {
      await page.setInputFiles('#file', {name: 'x.txt', mimeType: 'text/plain', buffer: Buffer.from('no')});
      assert.match(await page.textContent('#error'), /not a picture/);
      await page.setInputFiles('#file', {name: 'x.png', mimeType: 'image/png', buffer: Buffer.from('no')});
      await page.locator('#error', {hasText: 'cannot be shown'}).waitFor();
      await page.setInputFiles('#file', picturePath('receipt.jpg'));
      await page.locator('#picked', {hasText: '457 × 887'}).waitFor();
      await page.route('**/v1/chat/completions', (route) => route.abort());
      await page.fill('#question', 'What is the total?');
      await page.click('#send');
      await page.locator('#error', {hasText: 'cannot be reached'}).waitFor();
      await page.unroute('**/v1/chat/completions');
      assert.equal(await ask('What is the total?'), '33.10');
      assert.ok(await page.isHidden('#error'));
    },
    async 'keeps the keyboard and the latest question while it looks'() {
      const active = () => page.evaluate(() => document.activeElement.id);
      const held = [];
      await page.route('**/v1/chat/completions', (route) => held.push(route));
      const asked = async (count) => {
        while (held.length < count) await page.waitForTimeout(10);
      };
      await page.fill('#question', 'What is the date?');
      await page.focus('#send');
      await page.keyboard.press('Enter');
      await asked(1);
      assert.equal(await page.textContent('#send'), 'Looking …');
      assert.equal(await page.getAttribute('#send', 'aria-disabled'), 'true');
      assert.equal(await active(), 'send');
      await page.keyboard.press('Enter');  // the same again: nothing happens
      await page.fill('#question', 'What is the total?');
      await page.keyboard.press('Enter');
      await asked(2);
      assert.equal(held.length, 2);
      await held[1].continue();
      await answered();
      assert.equal(await page.textContent('#answer'), '33.10');
      assert.equal(await page.textContent('#send'), 'Ask');
      await held[0].continue().catch(() => {});  // the page has let go of it
      await page.unroute('**/v1/chat/completions');
      await page.waitForTimeout(300);
      assert.equal(await page.textContent('#answer'), '33.10');
      assert.ok(await page.isHidden('#error'));
    },
    async 'another picture ends the question about the one before'() {
      let held = null;
      await page.route('**/v1/chat/completions', (route) => { held = route; });
      await page.focus('#send');
      await page.keyboard.press('Enter');
      while (!held) await page.waitForTimeout(10);
      await page.setInputFiles('#file', picturePath('chart.jpg'));
      await page.locator('#send', {hasText: 'Ask'}).waitFor();
      await held.continue().catch(() => {});
      await page.unroute('**/v1/chat/completions');
      assert.ok(await page.isHidden('#result'));
      assert.ok(await page.isHidden('#error'));
      await page.setInputFiles('#file', picturePath('receipt.jpg'));
      await page.locator('#picked', {hasText: 'receipt.jpg'}).waitFor();
    },
    async 'works by keyboard alone'() {
      await page.focus('#question');
      await page.keyboard.press('Control+A');
      await page.keyboard.type('What is the date?');
      await page.keyboard.press('Enter');
      await answered();
      assert.equal(await page.textContent('#answer'), '10 jul 2024');
      await page.focus('#question');
      const reached = new Set();
      for (let i = 0; i < 14; ++i) {
        await page.keyboard.press('Tab');
        reached.add(await page.evaluate(() => document.activeElement.id));
      }
      for (const id of ['budget', 'passes', 'policy', 'send', 'show-heat', 'compare']) assert.ok(reached.has(id), id);
    },
    async 'fits a phone'() {
      const phone = await open({width: 360, height: 740});
      await phone.setInputFiles('#file', picturePath('receipt.jpg'));
      assert.equal(await ask('What is the total?', phone), '33.10');
      const widths = await phone.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(widths[0] <= widths[1], 'nothing sticks out: ' + widths);
      await phone.screenshot({path: shots + '/page_phone.jpg', type: 'jpeg', quality: 80});
      await phone.context().close();
    },
    async 'asks for a key where one is needed'() {
      const closed = await serve(process.argv[2], '--api-key', 'k');
      try {
        const other = await (await browser.newContext()).newPage();
        await other.goto(closed.url + '/');
        await other.setInputFiles('#file', picturePath('receipt.jpg'));
        await other.fill('#question', 'What is the total?');
        await other.click('#send');
        await other.locator('#error', {hasText: 'key is needed'}).waitFor();
        await other.fill('#key', 'k');
        assert.equal(await ask('What is the total?', other), '33.10');
      } finally {
        await closed.stop();
      }
    },
    'made no outside request and broke no policy'() {
      assert.deepEqual(complaints, []);
    },
  });
} finally {
  await browser.close();
  assert.equal(await server.stop(), 0);
  rmSync(folder, {recursive: true});
}
