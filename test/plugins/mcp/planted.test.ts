/** What working off bugs costs an agent, by the scripted one of `npm run bench -- agent`: success first, then tokens. */
import { expect } from 'chai';
import { agentRun } from '../../load/agent/figures.js';
import { PLANTED } from '../../load/agent/planted.js';
import { TestService } from '../../support/service.js';

describe('mcp: ten planted bugs', function () {
  this.timeout(180_000);

  it('are each fixed with two calls and under 1,250 tokens, whatever orders the reports hold', async () => {
    const { worked, tools, statuses, start_tokens } = await agentRun(TestService.here());
    expect(worked.filter(({ fixed }) => fixed).map(({ bug }) => bug)).to.have.members(PLANTED.map(({ name }) => name));
    expect(statuses).to.deep.equal(PLANTED.map(() => 'resolved'));
    expect(tools).to.deep.equal({ next: PLANTED.length + 1, resolve: PLANTED.length });
    for (const { bug, tokens } of worked) expect(tokens, bug).to.be.below(1_250);
    expect(start_tokens).to.be.below(4_000);
  });
});
