// A Node program with a global exception handler that reports to AOS, then dies as it would have died anyway.
'use strict';

process.on('uncaughtException', async (error) => {
  try {
    const answer = await fetch(`${process.env.SVC_URL}/api/errors/v1/report`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env.SVC_TOKEN}` },
      body: JSON.stringify({
        project: process.env.SVC_PROJECT,
        error_level: 'error',
        error_message: error.message,
        exception_class: error.constructor.name,
        stack_trace: error.stack,
        environment: 'production',
        app_version: '1.4.0',
        tags: ['node'],
      }),
    });
    console.log(await answer.text());
  } catch (unreachable) {
    console.error('could not report:', unreachable.message);
  }
  process.exit(1);
});

function totalOf(order) {
  return order.lines.reduce((sum, line) => sum + line.price, 0);
}

const order = { id: process.argv[2] }; // the lines were never loaded
totalOf(order);
