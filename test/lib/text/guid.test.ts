/** GUIDs as text. */
import { expect } from 'chai';
import { GUID_SOURCE, GUID_START_SOURCE, parseGuid, isGuid, getGuidTime } from '../../../lib/text/guid.js';

const SOME = '01941f29-7c00-7000-8000-000000000001';

describe('lib: guid', () => {
  it('matches only a complete lower-case text', () => {
    expect(isGuid(SOME)).to.equal(true);
    for (const other of ['', `${SOME} `, `{${SOME}}`, SOME.toUpperCase(), SOME.slice(1), SOME.replaceAll('-', '')])
      expect(isGuid(other), other).to.equal(false);
  });

  it('is found within a text, and by the pattern for its first characters', () => {
    expect(`order ${SOME} is gone`.replace(new RegExp(GUID_SOURCE), '<guid>')).to.equal('order <guid> is gone');
    expect(new RegExp(`^${GUID_START_SOURCE}`).test(SOME)).to.equal(true);
  });

  it('returns the time of a UUIDv7, and of no other version', () => {
    expect(getGuidTime(SOME)).to.equal(Date.parse('2025-01-01T00:00:00Z'));
    expect(getGuidTime('3f2504e0-4f89-41d3-9a0c-0305e82c3301')).to.equal(null);
    expect(getGuidTime('shop-17')).to.equal(null);
  });

  it('is formatted with dashes and in lower case', () => {
    for (const given of [SOME, SOME.toUpperCase(), SOME.replaceAll('-', '')]) expect(parseGuid(given)).to.equal(SOME);
    for (const other of ['', `${SOME}0`, SOME.slice(1), 'z'.repeat(32), `${SOME.slice(0, -1)}\n`]) {
      expect(parseGuid(other), other).to.equal(null);
    }
  });
});
