/** Packed fields in the file: small there, whole everywhere else (packing.ts). */
import { expect } from 'chai';
import { compressBody, encodeDoc, restoreBody, type SeparateFields } from '../../../../adapters/sqlite/stored-body.js';

const STACK = `Error: boom\n${'    at load (/srv/app/src/orders/module.ts:10:13)\n'.repeat(100)}`;

const packing = (...fields: string[]): SeparateFields => ({
  compressed: fields.length === 0 ? undefined : fields,
  bytes: undefined,
});

describe('sqlite: compressed fields', () => {
  it('need an eighth of the space', () => {
    for (const stack_trace of [STACK, STACK.repeat(12)]) {
      const doc = { id: 'a', host: 'h', message: 'boom', stack_trace };
      const stored = compressBody(encodeDoc(doc, packing('message', 'stack_trace', 'missing')));
      expect(Object.keys(JSON.parse(stored) as object)).to.deep.equal(['~', 'id', 'host']);
      expect(stored.length).to.be.below(stack_trace.length / 8);
      expect(JSON.parse(restoreBody(stored))).to.deep.equal(doc);
    }
  });

  it('are stored uncompressed where compression saves nothing', () => {
    const text = encodeDoc({ id: 'a', stack_trace: 'short' } as never, packing('stack_trace'));
    expect(compressBody(text)).to.equal('{"id":"a","stack_trace":"short"}');
    expect(compressBody(encodeDoc({ id: 'a', stack_trace: STACK } as never, packing()))).to.equal(
      JSON.stringify({ id: 'a', stack_trace: STACK }),
    );
  });

  it('are rejected in a document without a string id', () => {
    expect(() => encodeDoc({ id: 1 } as never, packing())).to.throw(TypeError, 'text id');
  });
});
