/** Contract 21, intake: urgency. */
import { expect } from 'chai';
import { urgencyOf } from '../../lib/urgency.js';

describe('lib: urgency', () => {
  for (const environment of [null, undefined, '', 'production', 'prod', 'live'])
    it(`is whole in ${String(environment) || 'no environment'}`, () => {
      expect(urgencyOf('fatal', environment)).to.equal('critical');
      expect(urgencyOf('error', environment)).to.equal('high');
      expect(urgencyOf('warning', environment)).to.equal('medium');
    });

  for (const environment of ['dev', 'development', 'local', 'test', 'testing', 'ci', 'qa', 'staging', ' Staging '])
    it(`is one step lower in ${environment}`, () => {
      expect(urgencyOf('fatal', environment)).to.equal('high');
      expect(urgencyOf('error', environment)).to.equal('medium');
      expect(urgencyOf('warning', environment)).to.equal('low');
    });
});
