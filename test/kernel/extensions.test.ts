/** Extension points: a plugin offers one, others add to it, and the manifests say both. */
import { expect } from 'chai';
import {
  definePlugin,
  extend,
  extensionPoint,
  type Extension,
  type Plugin,
  type PluginContext,
} from '../../kernel/contract/index.js';
import { bootTestKernel, type TestKernel } from '../harness.js';

type Action = (ref: string) => string;
const ACTIONS = extensionPoint<Action>('tracker.actions');

const tracker = (requested: (ctx: PluginContext) => void): Plugin =>
  definePlugin({
    id: 'tracker',
    version: '1.0.0',
    api: 1,
    title: 'Tracker',
    extensionPoints: [ACTIONS.point],
    setup(ctx) {
      requested(ctx);
      return {};
    },
  });
const adding = (id: string, extensions: readonly Extension[], more: Partial<Plugin> = {}): Plugin =>
  definePlugin({
    id,
    version: '1.0.0',
    api: 1,
    title: id,
    extends: [ACTIONS.point],
    setup: () => ({ extensions }),
    ...more,
  });
const link = (prefix: string): Extension => extend(ACTIONS, (ref) => `/${prefix}/${ref}`);

describe('kernel/extensions', () => {
  const running: TestKernel[] = [];
  const start = async (...args: Parameters<typeof bootTestKernel>): Promise<TestKernel> => {
    const made = await bootTestKernel(...args);
    running.push(made);
    return made;
  };
  afterEach(async () => {
    for (const made of running.splice(0)) await made.stop();
  });

  it('return the extensions of all plugins in order, at the time of the call', async () => {
    let actions: () => string[] = () => [];
    await start([
      adding('rules', [link('rules')]),
      tracker((ctx) => {
        actions = () => ctx.extensions(ACTIONS).map((action) => action('shop-1'));
        expect(actions()).to.deep.equal([]);
      }),
      adding('chat', [link('chat'), link('notes')]),
    ]);
    expect(actions()).to.deep.equal(['/rules/shop-1', '/chat/shop-1', '/notes/shop-1']);
  });

  it('exclude what a failed plugin added', async () => {
    let count = (): number => -1;
    await start([
      tracker((ctx) => void (count = () => ctx.extensions(ACTIONS).length)),
      adding('rules', [link('rules')], {
        setup: () => ({ extensions: [link('rules')], start: () => Promise.reject(new Error('no')) }),
      }),
    ]);
    expect(count()).to.equal(0);
  });

  it('reject points and extensions that a manifest does not declare', async () => {
    const service = await start([
      tracker(() => {}),
      adding('quiet', [link('quiet')], { extends: [] }),
      definePlugin({
        id: 'asks',
        version: '1.0.0',
        api: 1,
        title: 'asks',
        setup: (ctx) => ({ commands: [...ctx.extensions(ACTIONS)].map(() => ({}) as never) }),
      }),
    ]);
    const reasons = Object.fromEntries(service.kernel.system.listPlugins().map(({ id, reason }) => [id, reason]));
    expect(reasons).to.deep.equal({
      tracker: null,
      quiet: 'adds to the extension point "tracker.actions", which is not in its manifest: declare it in `extends`',
      asks: 'the extension point "tracker.actions" is not in its manifest: declare it in `extensionPoints`',
    });
  });
});
