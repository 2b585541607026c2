import { expect } from 'chai';
import { timeParameter } from '../../kernel/contract/index.js';
import { ServiceError } from '../../kernel/errors.js';

describe('kernel: timeParameter', () => {
  it('converts any offset to UTC with milliseconds', () => {
    expect(timeParameter('since', '2026-11-20T10:15:30+02:00')).to.equal('2026-11-20T08:15:30.000Z');
    expect(timeParameter('since', undefined)).to.equal(undefined);
  });

  it('rejects an invalid time with 400 and the name of the parameter', () => {
    let thrown: unknown;
    try {
      timeParameter('until', '2026-13-40T00:00:00Z');
    } catch (error) {
      thrown = error;
    }
    expect(thrown).to.be.instanceOf(ServiceError);
    expect(thrown).to.include({ code: 'invalid_request' });
    expect((thrown as ServiceError).fields).to.deep.equal({ until: 'must be an RFC 3339 timestamp' });
  });
});
