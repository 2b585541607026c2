import { expect } from 'chai';
import { isAvailable, isRequired } from './requirements.js';

describe('SVC_TEST_REQUIRE', () => {
  const before = process.env['SVC_TEST_REQUIRE'];
  afterEach(() => {
    if (before === undefined) delete process.env['SVC_TEST_REQUIRE'];
    else process.env['SVC_TEST_REQUIRE'] = before;
  });

  it('fails a listed suite that cannot run', () => {
    process.env['SVC_TEST_REQUIRE'] = 'browser,mongodb';
    expect(() => isAvailable('mongodb', false)).to.throw('SVC_TEST_REQUIRE names mongodb');
    expect(isAvailable('mongodb', true)).to.equal(true);
    expect(isRequired('browser')).to.equal(true);
  });

  it('allows a suite that is not listed to be skipped', () => {
    process.env['SVC_TEST_REQUIRE'] = 'browser';
    expect(isAvailable('mongodb', false)).to.equal(false);
    delete process.env['SVC_TEST_REQUIRE'];
    expect(isRequired('browser')).to.equal(false);
  });
});
