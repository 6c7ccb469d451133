// The page in a real browser: node browser.mjs PATH_OF_ARRCOC FOLDER_FOR_SCREENSHOTS
import assert from 'node:assert/strict';
import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {access} from './browser_access.mjs';
import {failures} from './browser_failures.mjs';
import {films} from './browser_films.mjs';
import {answered, ask, give, hand, look, Pages, shoot} from './browser_page.mjs';
import {several} from './browser_several.mjs';
import {picturePath, run, serve} from './server.mjs';

const [binary, shots] = process.argv.slice(2);
mkdirSync(shots, {recursive: true});
const folder = mkdtempSync(tmpdir() + '/arrcoc-web-');
const patience = ['--request-seconds', '300'];  // a film on a busy machine
const server = await serve(binary, '--log', folder + '/log.db', ...patience);
const pages = await Pages.launch();
const page = await pages.open(server.url);
const given = {binary, shots, folder, server, pages, patience};
const receipt = picturePath('receipt.jpg');

// Only this picture, whatever was there.
async function only(path) {
  while (await page.locator('#items li').count() > 0) await page.locator('#items .remove').first().click();
  await give(page, path);
}

const one = {
  async 'says that it is ready'() {
    await page.locator('#health', {hasText: 'ready'}).waitFor();
    assert.ok(await page.isDisabled('#send'), 'nothing to ask yet');
    assert.ok(await page.isVisible('#empty'));
  },
  async 'takes a picture and answers'() {
    await give(page, receipt);
    assert.match(await page.textContent('#items'), /receipt\.jpg457 × 887/);
    assert.equal(await ask(page, 'What is the total?'), '33.10');
    assert.match(await page.locator('.card .facts').first().textContent(), /% sure.* of 1624 image tokens/);
    await page.fill('#price', '2.5');
    await page.waitForFunction(() => document.querySelector('.pair canvas').width > 400);
    await shoot(page, shots + '/page_total.jpg');
  },
  async 'describes its pictures'() {
    const label = (kind) => page.getAttribute('canvas.' + kind, 'aria-label');
    assert.equal(await page.getByRole('img').count(), await page.locator('canvas:not([aria-hidden]):visible, img:visible').count());
    assert.match(await label('stage'), /^receipt.jpg, 457 by 887 pixels, with the relevance map \(highest at the \w+ \w+\) and the quadtree of \d+ tokens$/);
    assert.match(await label('seen'), /^receipt.jpg fine where it looked, coarse elsewhere, \d+ tokens$/);
    await page.uncheck('#show-heat');
    await page.selectOption('#view', 'native');
    assert.match(await label('stage'), /pixels, with the quadtree of \d+ tokens$/);
    assert.equal(await label('seen'), 'receipt.jpg in full detail, 1624 tokens');
    await page.check('#show-heat');
    await page.selectOption('#view', 'seen');
  },
  async 'draws the quadtree over the whole picture'() {
    // Small pictures are enlarged before they are cut: leaves refer to what they became.
    const reply = await (await fetch(server.url + '/v1/chat/completions', {method: 'POST', headers: {'Content-Type': 'application/json'},
      body: JSON.stringify({messages: [{role: 'user', content: [{type: 'image_url', image_url: {url: await page.evaluate(async () =>
        (await import('/page_pictures.js')).items[0].url)}}, {type: 'text', text: 'What is the total?'}]}], arrcoc: {map: true, budget: 180}})})).json();
    const {canvas, passes} = reply.arrcoc.pictures[0];
    assert.ok(canvas.height > 887);
    const covered = Math.max(...passes[0].leaves.map(({y, size}) => y + size)) / canvas.height;
    assert.ok(covered >= 1 && covered < 1.2, String(covered));
    await page.uncheck('#show-heat');
    const tree = await page.locator('canvas.stage').evaluate(async (stage) => {
      const {items} = await import('/page_pictures.js');
      const plain = document.createElement('canvas');
      [plain.width, plain.height] = [stage.width, stage.height];
      plain.getContext('2d').drawImage(items[0].image, 0, 0, plain.width, plain.height);
      const [a, b] = [stage, plain].map((c) => c.getContext('2d').getImageData(0, 0, stage.width, stage.height).data);
      const rows = [];
      for (let y = 0; y < stage.height; ++y) {
        let lines = 0;
        for (let x = 0; x < stage.width; ++x) lines += a[4 * (y * stage.width + x)] !== b[4 * (y * stage.width + x)];
        if (lines > stage.width / 3) rows.push(y / stage.height);
      }
      return rows;
    });
    assert.ok(tree.some((y) => y < 0.2) && tree.some((y) => y > 0.85), 'lines from top to bottom: ' + tree);
    await page.check('#show-heat');
  },
  async 'reads out an answer once, however it comes'() {
    const event = (data) => `event: x\r\ndata: ${JSON.stringify(data)}\r\n\r\n: keep-alive\r\n\r\n`;
    const pieces = ['thir', 'ty ', 'three'].map((content) => event({id: 'i', choices: [{delta: {content}}]}));
    const arrcoc = {id: 'i', answer: 'x', picture: 1, best_pass: 1, pictures: [{width: 9, height: 9, tokens: 9, native_tokens: 10}], tokens: 9,
                    native_tokens: 10, milliseconds: {}, fallbacks: []};
    await page.route('**/v1/chat/completions', (route) => route.fulfill({contentType: 'text/event-stream',
      body: ': hello\r\n\r\n' + pieces.join('') + event({choices: [], arrcoc}) + 'data: [DONE]\r\n\r\n'}));
    await page.evaluate(() => {
      window.announced = [];
      for (const region of document.querySelectorAll('[role=status], [role=alert], [aria-live]'))
        new MutationObserver(() => announced.push(region.id + ': ' + region.textContent))
            .observe(region, {childList: true, characterData: true, subtree: true});
    });
    assert.equal(await ask(page, 'What is the total?'), 'thirty three');
    await page.unroute('**/v1/chat/completions');
    await page.evaluate(async () => (await import('/page_api.js')).health());
    const announced = (await page.evaluate(() => window.announced)).filter((line) => !line.startsWith('count'));
    assert.deepEqual(announced, ['said: Looking …', 'said: Answer: thirty three. 9 of 10 image tokens.']);
    await page.fill('#question', '');
  },
  async 'shows another map and quadtree for another question'() {
    await ask(page, 'What is the total?');
    const shown = async () => [await look(page, 'canvas.stage'), await look(page, 'canvas.seen')];
    const before = await shown();
    assert.equal(await ask(page, 'What is the date?'), '10 jul 2024');
    (await shown()).forEach((now, i) => assert.notEqual(now, before[i]));
  },
  async 'lets map and quadtree be switched off'() {
    const both = await look(page, 'canvas.stage');
    await page.uncheck('#show-heat');
    const tree = await look(page, 'canvas.stage');
    await page.uncheck('#show-tree');
    const plain = await look(page, 'canvas.stage');
    assert.equal(new Set([both, tree, plain]).size, 3);
    await page.check('#show-heat');
    await page.check('#show-tree');
    assert.equal(await look(page, 'canvas.stage'), both);
  },
  async 'shows tokens, a plain resize, everything and tokens per area'() {
    const shown = new Set();
    for (const how of ['seen', 'resize', 'native', 'area']) {
      await page.selectOption('#view', how);
      shown.add(await look(page, 'canvas.seen'));
    }
    assert.equal(shown.size, 4);
    await page.selectOption('#view', 'seen');
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
    await ask(page, 'What is the name of the cashier?');
    const looks = await page.locator('.looks .strip li').count();
    assert.ok(looks >= 1 && looks <= 3, String(looks));
    await page.selectOption('#passes', '1');
    await ask(page, 'What is the date?');
    assert.ok(await page.isHidden('.looks'));
  },
  async 'says where a picture goes, and what a rating keeps before one rates'() {
    assert.match(await page.textContent('#where'),
                 /goes to this server and no further\. Of 0\.1 % of the questions, .* 30 days/);
    assert.ok(await page.isVisible('.rate-hint'));
    assert.match(await page.textContent('.card .rate-hint'), /keeps question, answer .* for 30 days/);
  },
  async 'keeps a rating'() {
    await page.click('.card .down');
    await page.locator('.card .thanks', {hasText: 'Thank you.'}).waitFor();
  },
  async 'takes a pasted picture'() {
    await page.click('#items .remove');
    await hand(page, 'paste', picturePath('chart.jpg'));
    await page.locator('#items', {hasText: 'chart.jpg'}).waitFor();
    assert.ok((await ask(page, 'What is the value of South Africa?')).length > 0);
  },
  async 'takes dropped pictures'() {
    await hand(page, 'drop', picturePath('street.jpg'), picturePath('zoo.jpg'));
    await page.locator('#items', {hasText: 'zoo.jpg'}).waitFor();
    assert.equal(await page.locator('#items li').count(), 3);
    await page.click('#clear');
    assert.equal(await page.locator('#items li').count(), 0);
  },
  async 'keeps the keyboard and the latest question while it looks'() {
    await only(receipt);
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
    await answered(page);
    assert.equal(await page.textContent('.card .answer'), '33.10');
    assert.equal(await page.textContent('#send'), 'Ask');
    await held[0].continue().catch(() => {});  // the page has let go of it
    await page.unroute('**/v1/chat/completions');
    await page.waitForTimeout(300);
    assert.equal(await page.textContent('.card .answer'), '33.10');
    assert.ok(await page.isHidden('#error'));
  },
  async 'another picture, or Escape, ends the question before'() {
    for (const end of [() => give(page, picturePath('chart.jpg'), 2), () => page.keyboard.press('Escape')]) {
      await only(receipt);
      let held = null;
      await page.route('**/v1/chat/completions', (route) => { held = route; });
      await page.focus('#send');
      await page.keyboard.press('Enter');
      while (!held) await page.waitForTimeout(10);
      await end();
      await page.locator('#send', {hasText: 'Ask'}).waitFor();
      await held.continue().catch(() => {});
      await page.unroute('**/v1/chat/completions');
      assert.ok(await page.isHidden('#error'));
      assert.equal(await page.textContent('#said'), '');
    }
    assert.equal(await page.textContent('.card .answer'), 'Stopped.');
  },
};

try {
  await run({
    ...one,
    ...several(given),
    ...films(given),
    ...failures(given),
    ...access(given),
    'made no outside request and broke no policy'() {
      assert.deepEqual(pages.complaints, []);
    },
  });
} finally {
  await pages.browser.close();
  assert.equal(await server.stop(), 0);
  rmSync(folder, {recursive: true});
}
