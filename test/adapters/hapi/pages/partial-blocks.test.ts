/** Calls of partials with a block say what Handlebars would, and hold no page alive. */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import Handlebars from 'handlebars';
import { callBlocksYoung } from '../../../../adapters/hapi/pages/partial-blocks.js';

const PARTIALS = {
  head: '<h1>{{heading}}</h1>{{> @partial-block}}',
  root: '<h1>{{heading}}</h1>{{#> @partial-block @root}}none{{/@partial-block}}',
  frame: '[{{#> head heading=name}}{{> @partial-block}}{{/head}}]',
  bare: 'bare {{name}}',
  menu: '<nav>{{> entry}}</nav>',
};

/** An environment of Handlebars with the partials, ours or its own. */
function environment(ours: boolean): typeof Handlebars {
  const made = Handlebars.create();
  if (ours) callBlocksYoung(made);
  for (const [name, text] of Object.entries(PARTIALS)) made.registerPartial(name, made.compile(text));
  return made;
}

const page = (ours: boolean, text: string, fields: object): string => environment(ours).compile(text)(fields);

describe('hapi: partials with a block', () => {
  const fields = { name: 'Shop', items: ['a', 'b'], title: 'T' };
  for (const text of [
    '{{#> head heading="x"}}{{name}}{{/head}}',
    '{{#> root heading="x"}}{{name}} {{#each items}}{{this}}{{@index}}{{/each}}{{/root}}',
    '{{#> root heading="x"}}{{/root}}',
    '{{#> frame}}{{name}}{{/frame}} {{#> frame}}{{#> head heading=title}}in {{name}}{{/head}}{{/frame}}',
    '{{#each items}}{{#> head heading=this}}{{this}}{{@root.name}}{{/head}}{{/each}}',
    '{{#> unknown}}the block itself, {{name}}{{/unknown}}',
    '{{#> menu}}{{#*inline "entry"}}entry of {{name}}{{/inline}}{{/menu}}',
    '{{> bare}}{{> bare name="other"}}',
  ])
    it(`says what Handlebars says: ${text}`, () => {
      expect(page(true, text, fields)).to.equal(page(false, text, fields));
    });

  it('says which partial is missing', () => {
    for (const ours of [true, false])
      expect(() => page(ours, '{{> unknown}}', fields)).to.throw('The partial unknown could not be found');
  });

  it('holds none of its pages alive until the whole heap is looked through', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
    const old = (): number =>
      getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? NaN;
    const view = environment(true).compile('{{#> head heading="x"}}{{name}}{{/head}}');
    /** Bytes by which a round makes the old space grow. */
    const round = (): number => {
      const before = old();
      for (let i = 0; i < 40; i++) view({ name: 'Shop', rows: Array.from({ length: 1024 }, (_, at) => at) });
      collect({ type: 'minor' });
      collect({ type: 'minor' });
      return old() - before;
    };
    for (let i = 0; i < 5; i++) round();
    // The rows of a round are 320 KB. In one of the rounds the whole heap may be looked through.
    const grown = Array.from({ length: 9 }, round).toSorted((a, b) => a - b);
    expect(grown[4]).to.be.below(100_000);
  });
});
