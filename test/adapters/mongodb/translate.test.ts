import { expect } from 'chai';
import fc from 'fast-check';
import { decodeKeys, encodeKeys } from '../../../adapters/mongodb/keys.js';
import { toIndex } from '../../../adapters/mongodb/indexes.js';
import { parseDatabaseName, MongoStore } from '../../../adapters/mongodb/store.js';
import {
  getConflictIndex,
  escapeRegex,
  fromStored,
  toQuery,
  toSort,
  toStored,
  toUpdate,
} from '../../../adapters/mongodb/translate.js';
import { applyUpdate, matchesFilter, toPlainUpdate } from '../../../ports/document.js';
import type { Doc, Json, Update } from '../../../ports/store/index.js';
import { arbitraryDoc, arbitraryFilter, arbitraryUpdate } from '../../kit/contracts/arbitraries.js';
import { holds, applyMongoUpdate } from './support/interpreter.js';

describe('mongodb: query translation', () => {
  it('matches the same documents as the reference filter', () => {
    fc.assert(
      fc.property(arbitraryFilter, fc.array(arbitraryDoc, { minLength: 5, maxLength: 10 }), (filter, docs) => {
        for (const doc of docs)
          expect(holds(toQuery(filter), toStored(doc)), JSON.stringify([filter, doc])).to.equal(
            matchesFilter(doc, filter),
          );
      }),
      { numRuns: 1000 },
    );
  });

  it('updates documents as the reference implementation does', () => {
    fc.assert(
      fc.property(arbitraryDoc, arbitraryUpdate, (doc, update) => {
        const plain = toPlainUpdate(update);
        const expected = applyUpdate(structuredClone(doc) as Doc, structuredClone(plain));
        expect(fromStored(applyMongoUpdate(toStored(doc), toUpdate(plain)))).to.deep.equal(expected);
      }),
      { numRuns: 1000 },
    );
  });

  it('overwrites no operator with another, and requires all filters to match', () => {
    expect(toQuery({ a: { gt: 1, ne: null, exists: true }, id: 'x' }, { a: { lt: 5 } })).to.deep.equal({
      $and: [{ a: { $ne: null } }, { a: { $gt: 1 } }, { a: { $ne: null } }, { _id: { $eq: 'x' } }, { a: { $lt: 5 } }],
    });
    expect(toQuery()).to.deep.equal({});
    expect(toQuery({ or: [] })).to.deep.equal({ _id: { $in: [] } });
    expect(toQuery({ t: { has_any: [] } })).to.deep.equal({ _id: { $in: [] } });
  });

  it('treats operands that look like operators as values', () => {
    const operand = { $gt: '' } as unknown as string;
    expect(toQuery({ a: { ne: '$where' } })).to.deep.equal({ a: { $ne: '$where' } });
    expect(toQuery({ a: operand })).to.deep.equal({});
    expect(() => toQuery({ $where: '1' })).to.throw(TypeError);
    expect(toUpdate({ set: { a: '$b' } })).to.deep.equal({ $set: { a: '$b' } });
  });

  it('escapes text so that a pattern matches exactly this text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => new RegExp(`^${escapeRegex(text)}$`, 'u').test(text)),
      { numRuns: 500 },
    );
    expect(escapeRegex('a\0.b')).to.equal('a\\x00\\.b');
  });

  it('translates updates', () => {
    const update: Update = {
      set: { 'o.a': { $x: 1 } },
      unset: ['b'],
      inc: { n: 1 },
      push: { l: { each: [1], keep: 3 }, m: { each: [2], keep: 0 } },
      pull: { p: { in: ['x'] }, q: { field: 'id', in: ['y'] } },
      setOnInsert: { c: 1 },
      max: {},
    };
    expect(toUpdate(toPlainUpdate(update))).to.deep.equal({
      $set: { 'o.a': { '%24x': 1 } },
      $unset: { b: '' },
      $inc: { n: 1 },
      $push: { l: { $each: [1], $slice: -3 }, m: { $each: [2], $slice: 0 } },
      $pull: { p: { $in: ['x'] }, q: { id: { $in: ['y'] } } },
    });
  });

  it('encodes and decodes any keys so that none has a special meaning to the server', () => {
    const key = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('__proto__', '_bsontype', '$set', '$ref', 'a.b', '', '%', '%24', '_id', 'n\0'),
    );
    fc.assert(
      fc.property(fc.dictionary(key, fc.oneof(fc.integer(), fc.dictionary(key, fc.integer()))), (object) => {
        const json = JSON.parse(JSON.stringify(object)) as Json;
        const encoded = encodeKeys(json);
        expect(JSON.stringify(decodeKeys(encoded))).to.equal(JSON.stringify(json));
        for (const name of Object.keys(encoded as object))
          expect(name).to.not.match(/^$|^\$|[.\0]|^_bsontype$|^__proto__$/);
      }),
      { numRuns: 1000 },
    );
  });

  it('appends the id to every sort', () => {
    expect(toSort([['a.b', 'desc']])).to.deep.equal([
      ['a.b', -1],
      ['_id', -1],
    ]);
    expect(toSort()).to.deep.equal([['_id', 1]]);
  });

  it('translates index declarations', () => {
    expect(toIndex({ fields: ['ref'], unique: true })).to.deep.equal({
      key: { ref: 1 },
      name: 'ref',
      unique: true,
      sparse: true,
    });
    expect(toIndex({ fields: ['a', 'o.b'] })).to.deep.equal({ key: { a: 1, 'o.b': 1, _id: 1 }, name: 'a,o.b,_id' });
    expect(toIndex({ fields: ['a', 'id'] }).name).to.equal('a,_id');
    expect(() => toIndex({ fields: ['a', 'b'], unique: true })).to.throw(TypeError);
  });

  it('returns the name of the violated index, for any error message of the server', () => {
    const message = (index: string) =>
      `E11000 duplicate key error collection: aos.t index: ${index} dup key: { x: "index: y" }`;
    expect(getConflictIndex({ message: message('_id_') })).to.equal('id');
    expect(getConflictIndex({ message: message('o.key') })).to.equal('o.key');
    expect(getConflictIndex({ message: message('aos.t.$ref') })).to.equal('ref');
    expect(getConflictIndex({ message: 'x', keyPattern: { _id: 1 } })).to.equal('id');
    expect(getConflictIndex({ message: message('other'), keyPattern: { ref: 1 } })).to.equal('ref');
  });

  it('uses the path of the URL as the database', () => {
    expect(parseDatabaseName('mongodb://h1:1,h2:2/')).to.equal('aos');
    expect(parseDatabaseName('mongodb://h')).to.equal('aos');
    expect(parseDatabaseName('mongodb+srv://u:p%2F@h/my_db?retryWrites=true')).to.equal('my_db');
  });

  it('reports an unreachable server', async () => {
    const store = new MongoStore({ url: 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200' });
    const error = await store.connect().catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Error).with.property('message').that.includes('ECONNREFUSED');
  });
});
