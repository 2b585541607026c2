import { expect } from 'chai';
import { formPage, problemText } from '../../../kernel/contract.js';
import { conflict, invalid, notFound } from '../../../kernel/errors.js';
import { Redirect, View, type HttpRequest } from '../../../ports/http.js';

describe('a page that takes a form', () => {
  const page = (run: () => Promise<Redirect>) =>
    formPage({ path: '/x', title: 'X', access: { session: 'admin' } }, run, (_request, problem) => {
      return new View('x', { problem: problemText(problem), ...problem });
    });
  const request = {} as HttpRequest;

  it('answers what its form leads to, by POST', async () => {
    const done = new Redirect('/y');
    const spec = page(async () => done);
    expect(spec).to.include({ method: 'POST', path: '/x', title: 'X' });
    expect(await spec.handle(request)).to.equal(done);
  });

  it('shows a refusal that a person can correct, with its status and what was wrong', async () => {
    const refused = page(async () => {
      throw invalid({ name: 'is required' });
    });
    const view = (await refused.handle(request)) as View;
    expect(view.status).to.equal(422);
    expect(view.context).to.deep.include({ code: 'validation_failed', errors: { name: 'is required' } });
    expect((view.context as { problem: string }).problem).to.match(/ is required$/);
    const taken = page(async () => {
      throw conflict('Taken.');
    });
    expect(await taken.handle(request)).to.deep.include({ status: 409 });
  });

  it('leaves every other refusal to the error page', async () => {
    const gone = page(async () => {
      throw notFound('x');
    });
    const error = await Promise.resolve(gone.handle(request)).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'not_found' });
  });
});
