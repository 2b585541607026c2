/**
 * Grouping rules in a real browser against the real service: written, tried, saved, ordered,
 * switched off, deleted; without scripts too.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { useBrowser } from './use-browser.js';

/** A folder for pictures of the pages; not given: none are made. */
const SHOTS = process.env['SVC_TEST_SHOTS'];

describe('web: grouping rules in a real browser', () => {
  let axe: string;

  const web = useBrowser({
    projects: ['shop-1280', 'shop-360'],
    scopes: 'bugtracker:report,bugtracker:manage',
    prepare: async () => {
      axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    },
  });

  const report = (project: string, message: string, file: string): Promise<string> =>
    web.reportError(project, message, { exception_class: 'acme.net.TimeoutError', file });
  /** Nothing that axe-core finds on the page as it is, filled in and tried too. */
  async function checked(): Promise<void> {
    await web.page.evaluate(axe);
    const found = await web.page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
      'axe.run(document, { resultTypes: ["violations"] }).then((one) => one.violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })))',
    );
    expect(found).to.deep.equal([]);
    expect(web.tab.faults.filter((one) => !one.includes('status of 422'))).to.deep.equal([]);
  }
  const shot = async (name: string): Promise<void> => {
    if (SHOTS !== undefined) await web.page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
  };

  for (const width of [1280, 360])
    it(`creates, tests, saves, orders, disables and deletes rules at ${width} px`, async () => {
      const project = `shop-${width}`;
      const db = [
        await report(project, 'timeout of db after 20 ms', 'a.ts'),
        await report(project, 'timeout of db', 'src/b.ts'),
      ];
      const { page } = await web.openTab({ width });
      await page.goto(`${web.url}/grouping-rules?project=${project}`);
      expect(await page.textContent('main')).to.include('No grouping rules');
      await shot(`rules-empty-${width}`);
      await page.click('main a:has-text("New rule")');
      await page.fill('[name=message]', 'timeout of (\\w+');
      await page.fill('[name=fingerprint]', 'timeout\n{{ 1 }}');
      await page.fill('[name=title]', 'Timeout of {{ 1 }}');
      await page.click('button:has-text("Preview rule")');
      expect(await page.getAttribute('[name=message]', 'aria-invalid')).to.equal('true');
      expect(await page.inputValue('[name=fingerprint]')).to.equal('timeout\n{{ 1 }}');
      await page.fill('[name=message]', 'timeout of (\\w+)');
      await page.click('button:has-text("Preview rule")');
      const tried = await page.textContent('main aside');
      expect(tried).to.include('1 of these joins groups that are currently separate.');
      expect(tried).to.include('Timeout of db');
      for (const ref of db) expect(tried).to.include(ref);
      await shot(`rule-tried-${width}`);
      await checked();
      await page.click('button:has-text("Save rule")');
      expect(await page.textContent('.alert[role=status], [role=status]')).to.include('Rule “timeout of (\\w+)” saved');

      await page.goto(`${web.url}/grouping-rules/new?project=${project}&exception_class=TimeoutError`);
      await page.fill('[name=fingerprint]', '{{ default }}\nslow');
      await page.fill('[name=name]', 'All timeouts');
      await page.click('button:has-text("Save rule")');
      const order = (): Promise<string[]> => page.locator('tbody .cell-main a').allTextContents();
      expect(await order()).to.deep.equal(['timeout of (\\w+)', 'All timeouts']);
      await shot(`rules-${width}`);
      await checked();
      expect(await web.tab.overflow()).to.equal(0);

      await page.click('button:has-text("Down")');
      expect(await order()).to.deep.equal(['All timeouts', 'timeout of (\\w+)']);
      await page.click('tr:has-text("All timeouts") button:has-text("Disable")');
      expect(await page.textContent('tr:has-text("All timeouts")')).to.include('Disabled');
      const ref = await report(project, 'timeout of db, third', 'src/c.ts');
      expect(db).not.to.include(ref);
      expect(await report(project, 'timeout of db, fourth', 'src/d.ts')).to.equal(ref);

      await page.goto(`${web.url}/bugs/${ref}`);
      expect(await page.textContent('main')).to.include('Grouped by the rule “timeout of (\\w+)”.');
      await shot(`rule-why-${width}`);

      for (const name of ['All timeouts', 'timeout of']) {
        await page.goto(`${web.url}/grouping-rules?project=${project}`);
        await page.click(`tr:has-text("${name}") summary:has-text("Delete")`);
        await page.click(`tr:has-text("${name}") details button:has-text("Delete")`);
        expect(await page.textContent('.alert[role=status], [role=status]')).to.include(
          'deleted. Existing groups stay.',
        );
      }
      expect(await page.textContent('main')).to.include('No grouping rules');
    });
});
