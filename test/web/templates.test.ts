import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import Handlebars from 'handlebars';
import { findPackageRoot } from '../../config/load.js';
import { createHelpers } from '../../web/helpers/index.js';
import { COMPILE, filesBelow, partialOf, render, renderFile, root, templates } from './templates.js';

/** Markup that other code made and escaped, by file: nothing else may print unescaped. */
const UNESCAPED: Record<string, readonly string[]> = {
  'web/layouts/app.hbs': ['content'],
  'web/layouts/blank.hbs': ['content'],
};

/** What the content security policy forbids, or would make a hole, in one template's text. */
function faults(file: string, source: string): string[] {
  const found: string[] = [];
  const say = (what: string, pattern: RegExp): void => {
    for (const [text] of source.matchAll(pattern)) found.push(`${what}: ${text.trim().slice(0, 60)}`);
  };
  say('inline style', /<[^>]*\sstyle\s*=/gi);
  say('style element', /<style\b/gi);
  say('inline script', /<script\b(?![^>]*\ssrc=)[^>]*>/gi);
  say('event attribute', /<[a-z][^>]*\son[a-z]+\s*=/gi);
  say('script address', /javascript:/gi);
  say('other host', /\s(?:src|action)\s*=\s*"(?:https?:)?\/\//gi);
  say('other host', /<link\b[^>]*href\s*=\s*"(?:https?:)?\/\//gi);
  for (const [, name = ''] of source.matchAll(/\{\{\{\s*([^}]*?)\s*\}\}\}/g)) {
    if (!UNESCAPED[file]?.includes(name)) found.push(`unescaped: ${name}`);
  }
  say('unescaped', /\{\{&/g);
  for (const [form] of source.matchAll(/<form\b[^>]*method="post"[\s\S]*?<\/form>/gi)) {
    if (!/\{\{>\s*csrf\b|name="csrf_token"/.test(form)) found.push(`form without csrf: ${form.slice(0, 60)}`);
  }
  return found;
}

function partialsUsed(source: string): string[] {
  const names: string[] = [];
  class Visitor extends Handlebars.Visitor {
    override PartialStatement(partial: hbs.AST.PartialStatement): void {
      names.push((partial.name as hbs.AST.PathExpression).original);
      super.PartialStatement(partial);
    }
    override PartialBlockStatement(partial: hbs.AST.PartialBlockStatement): void {
      names.push((partial.name as hbs.AST.PathExpression).original);
      super.PartialBlockStatement(partial);
    }
  }
  new Visitor().accept(Handlebars.parse(source));
  return names;
}

describe('templates', () => {
  const all = templates();
  const partials = new Set(all.map(({ file }) => partialOf(file)).filter((name) => name !== null));
  const names = [...Object.keys(createHelpers({ timezone: 'UTC', now: () => 0 })), 'asset'];
  const known = Object.fromEntries(names.map((name) => [name, true]));

  it('exist', () => {
    expect(all.map(({ file }) => file)).to.include.members(['web/layouts/app.hbs', 'plugins/health/views/system.hbs']);
  });

  for (const { file, source } of all) {
    it(`${file} contains nothing that the content security policy forbids`, () => {
      expect(faults(file, source)).to.deep.equal([]);
    });

    it(`${file} uses existing helpers and partials, and renders without data`, () => {
      // With `knownHelpersOnly` a misspelt helper is a compile error; without it, silence on the
      // page.
      Handlebars.precompile(source, { ...COMPILE, knownHelpersOnly: true, knownHelpers: known });
      expect(partialsUsed(source).filter((name) => name !== '@partial-block' && !partials.has(name))).to.deep.equal([]);
      // Braces in a rendered page are text: the page of components prints calls.
      const page = render(source).replaceAll('{{', '');
      expect(faults(file, page)).to.deep.equal([]);
    });
  }

  it('use only icons in the sprite', () => {
    const sprite = readFileSync(join(root, 'web/assets/icons.svg'), 'utf8');
    const has = new Set([...sprite.matchAll(/id="i-([a-z0-9-]+)"/g)].map(([, id]) => id));
    const used = all.flatMap(({ source }) => [...source.matchAll(/\bicon[= ]"([a-z0-9-]+)"/g)].map(([, id]) => id));
    const code = filesBelow(join(root, 'plugins'), '.js').map((path) => readFileSync(path, 'utf8'));
    const nav = code.flatMap((text) => [...text.matchAll(/\bicon: '([a-z0-9-]+)'/g)].map(([, id]) => id));
    expect([...used, ...nav].filter((id) => !has.has(id))).to.deep.equal([]);
    expect(used.length).to.be.greaterThan(20);
  });

  it('show another picture for each icon name, and list the names in web/README.md', () => {
    const sprite = readFileSync(join(root, 'web/assets/icons.svg'), 'utf8');
    const symbols = [...sprite.matchAll(/<symbol id="i-([a-z0-9-]+)"[^>]*>(.*?)<\/symbol>/g)];
    const names = symbols.map(([, name = '']) => name).filter((name) => name !== 'logo');
    expect(names.length).to.be.greaterThan(60);
    expect(new Set(symbols.map(([, , drawing]) => drawing)).size).to.equal(symbols.length);
    const guide = readFileSync(join(findPackageRoot(), 'web', 'README.md'), 'utf8');
    const listed = /One icon stands for one thing: `([^`]*)`/.exec(guide)?.[1]?.split(/\s+/);
    expect(listed).to.have.members(names);
  });

  const planted: [what: string, source: string][] = [
    ['inline style', '<p class="a" style="color:red">'],
    ['style element', '<style>p{}</style>'],
    ['inline script', '<script>alert(1)</script>'],
    ['event attribute', '<button class="x" onclick="go()">'],
    ['script address', '<a href="javascript:go()">'],
    ['other host', '<img src="https://example.org/x.png">'],
    ['other host', '<link rel="stylesheet" href="//example.org/x.css">'],
    ['unescaped', '{{{ title }}}'],
    ['unescaped', '{{& title}}'],
    ['form without csrf', '<form method="post" action="/x"><button>Go</button></form>'],
  ];
  for (const [what, source] of planted) {
    it(`reports ${source}`, () => {
      expect(faults('web/x.hbs', source).join()).to.include(what);
    });
  }
});

describe('layouts', () => {
  const context = {
    title: '<b>',
    nav: {
      entries: [
        { href: '/bugs', label: 'Bugs', icon: 'bug', badge: 3, current: true },
        { href: '/errors', label: 'Errors', icon: 'errors', badge: null },
      ],
      settings: { href: '/settings', label: 'Settings', icon: 'settings', badge: null },
      help: [{ href: '/docs', label: 'Docs', icon: 'book' }],
    },
    user: { username: '<i>eve', role: 'admin' },
    csrf_token: 'tok"en',
    theme: 'dark',
    flash: { tone: 'success', message: '<script>' },
    timezone: 'Europe/Zurich',
    version: '1.2.3',
    request_id: 'abcdefgh',
    path: '/bugs/shop-1',
    query: { status: 'open' },
    content: '<h1>Item</h1>',
    crumbs: [{ label: 'Bugs', href: '/bugs' }, { label: 'shop-1' }],
  };

  it('render the app layout with landmarks, mark the current entry, and escape texts', () => {
    const page = renderFile('web/layouts/app.hbs', context);
    expect(page.match(/<h1/g)).to.have.length(1);
    expect(page.match(/<main/g)).to.have.length(1);
    expect(page).to.include('href="#content">Skip').and.include('<main id="content"');
    expect(page).to.include('role="status"').and.include('&lt;script&gt;').and.not.include('<script>');
    expect(page)
      .to.match(/href="\/bugs" aria-current="page"/)
      .and.not.match(/href="\/errors" aria-current/);
    expect(page).to.include('<title>&lt;b&gt; · AOS</title>').and.include('value="tok&quot;en"');
    expect(page).to.include('data-svc-theme="dark" data-bs-theme="dark"');
    expect(page).to.include('name="back" value="/bugs/shop-1?status&#x3D;open"');
    expect(page.indexOf('/assets/theme.js')).to.be.lessThan(page.indexOf('/assets/aos.css'));
  });

  it('draw the tabs of an entry before the content, and none below the entry', () => {
    const items = [
      { href: '/bugs', label: 'All', badge: null },
      { href: '/errors', label: 'Errors', badge: 2, current: true },
    ];
    const nav = { ...context.nav, tabs: { label: 'Issues', items } };
    const page = renderFile('web/layouts/app.hbs', { ...context, nav, crumbs: null });
    expect(page).to.match(/aria-label="Issues pages">[^]*href="\/errors" aria-current="page">Errors/);
    expect(page.indexOf('Issues pages')).to.be.lessThan(page.indexOf('<h1>Item'));
    expect(renderFile('web/layouts/app.hbs', { ...context, nav })).to.not.include('Issues pages');
  });

  it('draw the settings next to the content, for large and for small screens', () => {
    const groups = [
      { group: 'workspace', label: 'Workspace', items: [{ href: '/users', label: 'Members', current: true }] },
    ];
    const page = renderFile('web/layouts/app.hbs', { ...context, nav: { ...context.nav, groups, here: 'Members' } });
    expect(page.match(/href="\/users" aria-current="page">Members/g)).to.have.length(2);
    expect(page).to.include('aria-label="Settings"').and.include('Settings: Members');
  });

  it('follow the system theme when none is selected', () => {
    const page = renderFile('web/layouts/blank.hbs', { ...context, theme: undefined, user: null });
    expect(page).to.include('data-svc-theme="auto" data-bs-theme="light"').and.not.include('/logout');
  });

  it('show the error, who has access, and the request id on an error page', () => {
    const page = renderFile('web/views/error.hbs', {
      status: 403,
      code: 'role_not_allowed',
      heading: 'Not for your role',
      message: 'Members may not see accounts.',
      who: 'Administrators may.',
      request_id: 'abcdefgh',
    });
    expect(page).to.include('403').and.include('Administrators may.').and.include('abcdefgh');
    expect(page).not.to.include('role="region"');
  });
});

describe('partials', () => {
  it('field connects label, control, help and error', () => {
    const html = render(
      '{{> field name="slug" label="Slug" value=v error="Too short" help="Lower case" required=true}}',
      { v: '"><b>' },
    );
    expect(html).to.include('for="f-slug"').and.include('id="f-slug"').and.include('aria-describedby="f-slug-help"');
    expect(html).to.include('aria-invalid="true"').and.include('Too short').and.include('value="&quot;&gt;&lt;b&gt;"');
  });

  it('field accesses only its parameters', () => {
    expect(
      render('{{> field name="a" label="A"}}', { error: 'leaked', value: 'leaked', help: 'leaked' }),
    ).not.to.include('leaked');
  });

  it('select marks the selected option, given as strings or pairs', () => {
    const texts = render('{{> select name="s" label="S" options=o value="in_progress"}}', {
      o: ['open', 'in_progress'],
    });
    expect(texts).to.include('<option value="in_progress" selected>In progress</option>');
    const pairs = render('{{> select name="s" label="S" options=o value="b"}}', {
      o: [
        { value: 'a', label: 'A' },
        { value: 'b', label: 'Bee' },
      ],
    });
    expect(pairs).to.include('<option value="a">A</option>').and.include('<option value="b" selected>Bee</option>');
  });

  it('pagination preserves the filters', () => {
    const html = render('{{> pagination path="/bugs" query=query cursor=query.cursor next_cursor="n+1"}}', {
      query: { status: ['open', 'closed'], cursor: 'c' },
    });
    expect(html).to.include('href="/bugs?status&#x3D;open&amp;status&#x3D;closed&amp;cursor&#x3D;n%2B1"');
    expect(html).to.include('href="/bugs?status&#x3D;open&amp;status&#x3D;closed"');
  });

  it('pagination renders nothing for a single page', () => {
    expect(render('{{> pagination path="/bugs" query=query next_cursor=null}}').trim()).to.equal('');
  });

  it('confirm shows its action and includes token and fields', () => {
    const html = render('{{> confirm action="/x" label="Delete" text="Deletes shop." fields=(object-of id="7")}}', {
      csrf_token: 't0k',
    });
    expect(html).to.include('<summary').and.include('Deletes shop.').and.include('name="csrf_token" value="t0k"');
    expect(html).to.include('name="id" value="7"').and.include('method="post" action="/x"');
  });

  it('the block of page-header has access to the page context', () => {
    expect(
      render('{{#> page-header heading="H"}}<b>{{deep.name}}</b>{{/page-header}}', { deep: { name: 'N' } }),
    ).to.include('<b>N</b>');
    expect(
      render('{{#> page-header heading="H"}}{{#if yes}}<b>only when</b>{{/if}}{{/page-header}}', { yes: true }),
    ).to.include('<b>only when</b>');
    expect(render('{{> page-header heading="H"}}')).to.include('<div class="btn-list"></div>');
  });

  it('kv links only http(s)', () => {
    const html = render('{{> kv items=items}}', {
      items: [
        { label: 'Repo', url: 'javascript:alert(1)' },
        { label: 'None', value: null },
      ],
    });
    expect(html)
      .to.include('<dd class="datagrid-content">javascript:alert(1)</dd>')
      .and.include('<dd class="datagrid-content">—</dd>')
      .and.not.include('<a');
  });
});
