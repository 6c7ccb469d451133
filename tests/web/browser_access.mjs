// Keyboard, colours, widths, and what axe-core says to all of them.
import assert from 'node:assert/strict';
import {accessible, answered, ask, give, look, shoot} from './browser_page.mjs';
import {picturePath} from './server.mjs';

const receipt = picturePath('receipt.jpg'), street = picturePath('street.jpg');

// Every state of the page that looks different.
async function states(page, where, folder) {
  await accessible(page, where + ', empty');
  await give(page, [receipt, street]);
  await page.fill('#price', '2.5');
  await ask(page, 'What is the total?');
  await accessible(page, where + ', answered');
  await page.click('#compare');
  await ask(page, 'What is the total?', 'What is the date?');
  await page.selectOption('#passes', '2');
  await accessible(page, where + ', compared');
  await page.setInputFiles('#file', {name: 'x.txt', mimeType: 'text/plain', buffer: Buffer.from('no')});
  await page.locator('#error', {hasText: 'neither'}).waitFor();
  await accessible(page, where + ', failed');
  for (const name of ['history', 'keys']) {
    await page.click('#open-' + name);
    await accessible(page, `${where}, ${name}`);
    await page.keyboard.press('Escape');
  }
  await page.click('#clear');
  await page.click('#compare');
  await give(page, folder + '/film.avi');
  await ask(page, 'What is the total?');
  await page.locator('canvas.timeline').waitFor();
  await accessible(page, where + ', film');
}

export function access({folder, shots, server, pages}) {
  return {
    async 'has labels, contrast and room: light and dark, wide and narrow'() {
      for (const colorScheme of ['light', 'dark'])
        for (const width of [1280, 360]) {
          const page = await pages.open(server.url, {viewport: {width, height: 800}, colorScheme});
          await states(page, `${colorScheme}, ${width} pixels`, folder);
          await page.context().close();
        }
    },
    async 'is dark where the system is, or where somebody says so'() {
      const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const page = await pages.open(server.url, {colorScheme: 'dark'});
      const dark = await ground(page);
      await give(page, receipt);
      await ask(page, 'What is the total?');
      await shoot(page, shots + '/page_dark.jpg');
      await page.selectOption('#theme', 'light');
      const light = await ground(page);
      assert.notEqual(light, dark);
      await page.reload();
      await page.waitForFunction(() => document.documentElement.dataset.theme === 'light');
      assert.equal(await ground(page), light, 'remembered');
      await page.keyboard.press('d');
      assert.equal(await ground(page), dark);
      await page.selectOption('#theme', 'system');
      assert.equal(await page.evaluate(() => localStorage.getItem('arrcoc.theme')), null);
      await page.context().close();
    },
    async 'works by keyboard alone'() {
      const page = await pages.open(server.url);
      await give(page, [receipt, street]);
      await page.locator('body').press('/');
      assert.equal(await page.evaluate(() => document.activeElement.id), 'question');
      await page.keyboard.type('What is the date?');
      await page.keyboard.press('Enter');
      await answered(page);
      assert.equal(await page.textContent('.card .answer'), '10 jul 2024');
      const reached = new Set();
      const rings = [];
      await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
      for (let i = 0; i < 45; ++i) {
        await page.keyboard.press('Tab');
        const [name, ring] = await page.evaluate(() => {
          const at = document.activeElement;
          const style = getComputedStyle(at.type === 'file' ? at.closest('label') : at);
          return [at.id || at.className, at === document.body || (style.outlineStyle !== 'none' && parseInt(style.outlineWidth) >= 2)];
        });
        reached.add(name);
        if (!ring) rings.push(name);
      }
      const all = await page.evaluate(() => [...document.querySelectorAll('button, input, select')]
        .filter((one) => one.checkVisibility() && !one.disabled).map((one) => one.id || one.className));
      for (const one of all) assert.ok(reached.has(one), 'reached by Tab: ' + one);
      assert.deepEqual(rings, [], 'the focus is seen');
      await page.context().close();
    },
    async 'has shortcuts, in a list, that may be switched off'() {
      const page = await pages.open(server.url);
      await give(page, receipt);
      await page.fill('#question', 'What is the total?');
      await page.keyboard.press('m');
      assert.equal(await page.inputValue('#question'), 'What is the total?m', 'not while somebody writes');
      await page.fill('#question', 'What is the total?');
      await page.keyboard.press('Control+Enter');
      await answered(page);
      await page.evaluate(() => document.activeElement.blur());
      const before = await look(page, 'canvas.stage');
      await page.keyboard.press('m');
      assert.ok(!await page.isChecked('#show-heat'));
      assert.notEqual(await look(page, 'canvas.stage'), before);
      await page.keyboard.press('q');
      assert.ok(!await page.isChecked('#show-tree'));
      await page.keyboard.press('c');
      assert.equal(await page.evaluate(() => document.activeElement.id), 'question2');
      await page.evaluate(() => document.activeElement.blur());
      await page.keyboard.press('h');
      assert.ok(await page.isVisible('#history'));
      await page.keyboard.press('Escape');
      await page.keyboard.press('?');
      assert.ok(await page.isVisible('#keys'));
      for (const key of ['/', 'Esc', 'o', 'c', 'm', 'q', 'h', 'd', '?'])
        assert.ok(await page.locator('#keys kbd').filter({hasText: new RegExp(`^\\${key}$`.replace(/\\([a-zA-Z])/, '$1'))}).count() > 0, key);
      await page.uncheck('#keys-on');
      await page.click('#keys-close');
      await page.evaluate(() => document.activeElement.blur());
      await page.keyboard.press('m');
      assert.ok(!await page.isChecked('#show-heat'), 'switched off');
      await page.context().close();
    },
    async 'fits a phone'() {
      const phone = await pages.open(server.url, {viewport: {width: 360, height: 740}});
      await give(phone, receipt);
      await phone.fill('#price', '2.5');
      assert.equal(await ask(phone, 'What is the total?'), '33.10');
      const [width, most, top] = await phone.evaluate(() =>
        [document.documentElement.scrollWidth, innerWidth, document.querySelector('.card .answer').getBoundingClientRect().top]);
      assert.ok(width <= most, `nothing sticks out: ${width} of ${most}`);
      assert.ok(top >= 0 && top < 740, 'the answer is on the screen: ' + top);
      await shoot(phone, shots + '/page_phone.jpg');
      await phone.context().close();
    },
  };
}
