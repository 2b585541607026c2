/** Templates are compiled before they are needed, part by part. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Handlebars from 'handlebars';
import { expect } from 'chai';
import { TemplateCache } from '../../../../adapters/hapi/pages/template-cache.js';

describe('hapi: templates', () => {
  let folder: string;
  let templates: TemplateCache;
  const file = (name: string): string => join(folder, `${name}.hbs`);
  const write = async (texts: Record<string, string>): Promise<void> => {
    for (const [name, text] of Object.entries(texts)) await writeFile(file(name), text);
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-templates-'));
    const handlebars = Handlebars.create();
    templates = new TemplateCache(handlebars, {
      explicitPartialContext: true,
      knownHelpersOnly: true,
      knownHelpers: {},
    });
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('compiles a file with its nested partials, and yields to the event loop in between', async () => {
    await write({ list: '{{#each rows}}{{> row this}}{{/each}}', row: '<i>{{name}}{{> sign this}}</i>', sign: '!' });
    for (const name of ['row', 'sign']) templates.registerPartial(name, file(name));
    let turns = 0;
    let waits = true;
    const count = (): void => {
      turns++;
      if (waits) setImmediate(count);
    };
    setImmediate(count);
    await templates.precompile([file('list')]);
    waits = false;
    expect(turns).to.be.at.least(6);
    // Nothing is read any more.
    await rm(file('row'));
    await rm(file('sign'));
    expect(templates.getTemplate(file('list'))({ rows: [{ name: 'a' }, { name: '<' }] })).to.equal(
      '<i>a!</i><i>&lt;!</i>',
    );
  });

  it('compiles a recursive partial, and a partial that is referenced before its declaration', async () => {
    await write({ tree: '{{name}}{{#each kids}}({{> tree this}}){{/each}}', view: '{{> (lookup this "part") this}}' });
    templates.registerPartial('tree', file('tree'));
    const data = { name: 'a', kids: [{ name: 'b', kids: [{ name: 'c' }] }] };
    expect(templates.getTemplate(file('view'))({ ...data, part: 'tree' })).to.equal('a(b(c))');
    await templates.precompile([file('tree')]);
    expect(templates.getTemplate(file('tree'))(data)).to.equal('a(b(c))');
  });

  it('removes the indentation of lines except where whitespace is visible', async () => {
    await write({ plain: '<p>\n    a\n</p>', pre: '<pre>\n    a\n</pre>' });
    await templates.precompile([file('plain'), file('pre')]);
    expect(templates.getTemplate(file('plain'))({})).to.equal('<p>\na\n</p>');
    expect(templates.getTemplate(file('pre'))({})).to.equal('<pre>\n    a\n</pre>');
  });

  it('reads files again after the cache is cleared', async () => {
    await write({ view: 'old {{> part}}', part: 'old' });
    templates.registerPartial('part', file('part'));
    await templates.precompile([file('view')]);
    await write({ view: 'new {{> part}}', part: 'new' });
    expect(templates.getTemplate(file('view'))({})).to.equal('old old');
    templates.clear();
    await templates.precompile([file('view')]);
    expect(templates.getTemplate(file('view'))({})).to.equal('new new');
  });

  it('reports a missing file by name', async () => {
    const error = await templates.precompile([file('none')]).catch((reason: unknown) => reason);
    expect(error).to.be.an('error').with.property('message').that.includes('none.hbs');
  });
});
