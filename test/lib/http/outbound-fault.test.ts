import { expect } from 'chai';
import { formatOutboundFault } from '../../../lib/http/outbound-fault.js';

describe('faults of connections', () => {
  for (const [stored, shown] of [
    ['connect: connection refused', 'Connection refused'],
    ['dns: shop.example cannot be resolved', 'shop.example cannot be resolved'],
    ['The last one: connect: connection refused', 'The last one: connection refused'],
    ['HTTP 503', 'HTTP 503'],
    ['b@example.org: 550 no such user', 'b@example.org: 550 no such user'],
  ])
    it(`shows ${stored} as ${shown}`, () => expect(formatOutboundFault(stored ?? '')).to.equal(shown));
});
