/** Tools in a plugin's routes: judged with their route, and no name twice. */
import { expect } from 'chai';
import { definePlugin, type Plugin } from '../../kernel/contract/index.js';
import type { RouteSpec, ToolSpec } from '../../ports/http/index.js';
import { bootTestKernel, getRejection } from '../harness.js';

const route = (path: string, tool: RouteSpec['tool']): RouteSpec => ({
  method: 'GET',
  path,
  summary: 'x',
  access: 'public',
  ...(tool && { tool }),
  handle: () => ({}),
});
const plugin = (id: string, routes: RouteSpec[]): Plugin =>
  definePlugin({ id, version: '1.0.0', api: 1, title: id, critical: true, setup: () => ({ routes }) });
const tool = (name: string, more: object = {}): ToolSpec => ({ name, title: 'T', description: 'D', ...more });

describe('kernel: tools of routes', () => {
  it('accepts a single tool or several tools of a route', async () => {
    const service = await bootTestKernel([
      plugin('one', [route('/a', tool('next')), route('/b', [tool('get'), tool('find')])]),
    ]);
    await service.stop();
  });

  it('rejects the tool name of another plugin', async () => {
    const error = await getRejection(
      bootTestKernel([plugin('one', [route('/a', tool('next'))]), plugin('two', [route('/b', tool('next'))])]),
    );
    expect(error.message).to.include('the tool "next" is already provided by plugin one');
  });

  it('rejects a name with invalid characters, and unknown members', async () => {
    const named = await getRejection(bootTestKernel([plugin('one', [route('/a', tool('Next Item'))])]));
    expect(named.message).to.include('must be one lower-case word');
    const unknown = await getRejection(bootTestKernel([plugin('one', [route('/a', tool('next', { colour: 'red' }))])]));
    expect(unknown.message).to.match(/colour/);
  });
});
