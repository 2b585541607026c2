/** Code of plugins from outside runs in a scope that names the plugin, anyone who calls it. */
import { expect } from 'chai';
import Joi from 'joi';
import type { PluginParts } from '../../../kernel/contract/index.js';
import { bindParts, findThrowingPlugin, runInPlugin } from '../../../kernel/loading/error-attribution.js';
import { BUILT_IN } from '../../../kernel/manifest.js';

const ENTRY = './outside.mjs';
/** Of an error whose stack names no file. */
const thrower = (): string | null => findThrowingPlugin('a text');

class Counter {
  #count = 0;
  next(): [string | null, number] {
    return [thrower(), ++this.#count];
  }
}

const twice = <T>(get: () => T): [T, T] => [get(), get()];

describe('kernel: bindParts', () => {
  const schema = Joi.object();
  const shared = { count: 0, next: () => thrower() };
  const parts = bindParts(ENTRY, {
    services: { counter: new Counter(), shared, frozen: Object.freeze({ next: thrower }), text: 'text', list: [1] },
    extensions: [{ point: 'any.point', value: new Counter() }],
    routes: [{ path: '/', input: { body: schema }, limits: { cost: thrower }, handle: thrower }],
    pages: [{ nav: { badge: thrower } }],
    start: thrower,
  } as unknown as PluginParts);
  const services = parts.services as Record<string, { next(): unknown; count: number }>;

  it('runs functions at every depth in the scope of the plugin', () => {
    const [route] = (parts.routes ?? []) as unknown as [{ limits: { cost: () => unknown }; handle: () => unknown }];
    const [page] = (parts.pages ?? []) as unknown as [{ nav: { badge: () => unknown } }];
    const copy = { ...route };
    for (const work of [route.handle, route.limits.cost, copy.handle, page.nav.badge, parts.start])
      expect(work?.()).to.equal(ENTRY);
    expect(thrower()).to.equal(null);
  });

  it('runs methods of instances with access to their private members', () => {
    const [extension] = parts.extensions as unknown as [{ value: Counter }];
    expect(extension.value.next()).to.deep.equal([ENTRY, 1]);
    expect([services['counter']?.next(), services['counter']?.next()]).to.deep.equal([
      [ENTRY, 1],
      [ENTRY, 2],
    ]);
    expect(services['counter']).to.be.instanceOf(Counter);
  });

  it('reflects changes by the plugin, and supports frozen objects', () => {
    shared.count = 7;
    expect([services['shared']?.count, services['shared']?.next(), services['frozen']?.next()]).to.deep.equal([
      7,
      ENTRY,
      ENTRY,
    ]);
    expect(Object.is(...twice(() => Reflect.get(services['shared'] ?? {}, 'next') as unknown))).to.equal(true);
  });

  it('leaves data and schemas unchanged', () => {
    expect([services['text'], services['list']]).to.deep.equal(['text', [1]]);
    expect(parts.routes?.[0]?.input?.body).to.equal(schema);
  });

  it('leaves the parts of a built-in plugin unchanged', () => {
    const own: PluginParts = { routes: [] };
    expect(bindParts(BUILT_IN, own)).to.equal(own);
    expect(runInPlugin(BUILT_IN, thrower)).to.equal(null);
  });

  it('attributes an error to the called plugin instead of its caller', () => {
    expect(runInPlugin('./caller.mjs', () => services['shared']?.next())).to.equal(ENTRY);
  });
});
