/**
 * What working off bugs costs an agent, by the scripted one of `npm run bench -- agent`: success
 * first, then tokens.
 */
import { expect } from 'chai';
import { agentRun } from '../../bench/agent/figures.js';
import { PLANTED } from '../../bench/agent/planted.js';
import { TestService } from '../../support/service.js';

describe('mcp: two agents fix eleven seeded bugs', () => {
  it('fixes each bug in two calls and under 1,200 tokens per format, for any instructions in reports', async () => {
    const { worked, tools, statuses, start_tokens } = await agentRun(TestService.createInProcess());
    expect(worked.filter(({ fixed }) => fixed).map(({ bug }) => bug)).to.have.members(PLANTED.map(({ name }) => name));
    expect(statuses).to.deep.equal(PLANTED.map(() => 'resolved'));
    // Each agent asks once more, and finds no work.
    expect(tools).to.deep.equal({ next: PLANTED.length + 2, resolve: PLANTED.length });
    expect(new Set(worked.map(({ agent }) => agent)).size).to.equal(2);
    for (const { bug, tokens } of worked) {
      expect(tokens.text, bug).to.be.below(1_200);
      expect(tokens.structured, bug).to.equal(tokens.text);
    }
    expect(start_tokens).to.be.below(3_200);
  });
});
