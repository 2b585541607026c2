import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { render, root } from '../../web/templates.js';

/** Drawn by the layout, parts of other partials, or made for one kind of list. */
const LAYOUT_PARTIALS = new Set(
  'brand csrf entry-tabs flash head issue-table live mute-menu nav nav-link project-bar search-box seller-head settings-nav theme-switch'.split(
    ' ',
  ),
);
/** Helpers without a partial that have a section too. */
const OTHER_SECTIONS = 'badge severity-badge buttons sparkline bar-chart share-bar area-chart progress-bar icons'.split(
  ' ',
);

describe('the page of components', () => {
  const source = readFileSync(join(root, 'plugins/manual/views/components.hbs'), 'utf8');
  const html = render(source, { query: {}, path: '/docs/components' });

  it('shows every partial for pages', () => {
    const partials = readdirSync(join(root, 'web/partials')).map((file) => file.replace(/\.hbs$/, ''));
    const shown = [...html.matchAll(/<h3 class="card-title" id="part-([\w-]+)"/g)].map(([, id]) => id);
    expect(shown).to.have.members([...partials.filter((name) => !LAYOUT_PARTIALS.has(name)), ...OTHER_SECTIONS]);
  });

  it('prints each call as it is drawn', () => {
    const states = [
      ...source.matchAll(
        /<div class="component-state">\n([^]*?)\n\{\{code-block '([^']*)' label="[^"]+"\}\}\n +<\/div>/g,
      ),
    ];
    expect(states.length).to.be.greaterThan(30);
    expect(states.length).to.equal(source.split('class="component-state"').length - 1);
    for (const [, drawn, printed] of states) expect(printed).to.equal(drawn);
  });

  it('lists every icon', () => {
    const sprite = readFileSync(join(root, 'web/assets/icons.svg'), 'utf8');
    const names = [...sprite.matchAll(/<symbol id="i-([a-z0-9-]+)"/g)].map(([, name]) => name);
    const shown = [...html.matchAll(/<\/svg> <code>([a-z0-9-]+)<\/code>/g)].map(([, name]) => name);
    expect(shown).to.have.members(names.filter((name) => name !== 'logo'));
  });
});
