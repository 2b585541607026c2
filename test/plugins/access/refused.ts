/** The ServiceError that a call ends with; anything else, success too, fails the test. */
import { ServiceError } from '../../../kernel/errors.js';

export async function refused(call: Promise<unknown>): Promise<ServiceError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('the call succeeded');
}
