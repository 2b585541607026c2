import { expect } from 'chai';
import joi from 'joi';
import { createFormPage, createPageActions, formatProblem } from '../../../kernel/contract/index.js';
import { conflict, invalid, notFound } from '../../../kernel/errors.js';
import { Redirect, View, type HttpRequest } from '../../../ports/http/index.js';

describe('kernel: form pages', () => {
  const page = (run: () => Promise<Redirect>) =>
    createFormPage({ path: '/x', title: 'X', access: { session: 'admin' } }, run, (_request, problem) => {
      return new View('x', { problem: formatProblem(problem), ...problem });
    });
  const request = {} as HttpRequest;

  it('returns the result of its form on POST', async () => {
    const done = new Redirect('/y');
    const spec = page(async () => done);
    expect(spec).to.include({ method: 'POST', path: '/x', title: 'X' });
    expect(await spec.handle(request)).to.equal(done);
  });

  it('shows an error that the user can correct, with its status and fields', async () => {
    const rejected = page(async () => {
      throw invalid({ name: 'is required' });
    });
    const view = (await rejected.handle(request)) as View;
    expect(view.status).to.equal(422);
    expect(view.context).to.deep.include({ code: 'validation_failed', errors: { name: 'is required' } });
    expect((view.context as { problem: string }).problem).to.match(/ is required$/);
    const taken = page(async () => {
      throw conflict('Taken.');
    });
    expect(await taken.handle(request)).to.deep.include({ status: 409 });
  });

  it('leaves all other errors to the error page', async () => {
    const gone = page(async () => {
      throw notFound('x');
    });
    const error = await Promise.resolve(gone.handle(request)).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'not_found' });
  });
});

describe('kernel: page buttons', () => {
  const id = 'u1';
  const pressed = { params: { id, key: 'k' } } as unknown as HttpRequest;
  const page = { path: '/users/{id}', title: 'Users', access: 'public', input: { params: joi.object() } } as const;
  const button = createPageActions(page, async (_, { message }) => new View('user', { message }));

  it('post to a path below the page with its access and input, and receive the displayed object', async () => {
    const spec = button('disable', async (_, of) => new Redirect(`/users/${of}`));
    expect(spec).to.include({ method: 'POST', path: '/users/{id}/disable', access: 'public', input: page.input });
    expect(await spec.handle(pressed)).to.deep.equal(new Redirect('/users/u1'));
  });

  it('may have additional parameters', () => {
    const input = { params: joi.object({ id: joi.any(), key: joi.any() }) };
    const spec = button('keys/{key}/delete', async () => new Redirect('/users'), input);
    expect(spec).to.include({ path: '/users/{id}/keys/{key}/delete', input });
  });

  it('show the error on the page', async () => {
    const spec = button('disable', async () => {
      throw conflict('Taken.');
    });
    expect(await spec.handle(pressed)).to.deep.include({ status: 409, context: { message: 'Taken.' } });
  });
});
