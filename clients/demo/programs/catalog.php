<?php
// A PHP program whose exception handler reports to AOS.
set_exception_handler(function (Throwable $error): void {
    echo file_get_contents(getenv('SVC_URL') . '/api/errors/v1/report', false, stream_context_create(['http' => [
        'method' => 'POST',
        'header' => "Content-Type: application/json\r\nAuthorization: Bearer " . getenv('SVC_TOKEN'),
        'content' => json_encode([
            'project' => getenv('SVC_PROJECT'), 'error_level' => 'error', 'error_message' => $error->getMessage(),
            'exception_class' => get_class($error), 'file' => $error->getFile(), 'line' => $error->getLine(),
            'stack_trace' => (string) $error, 'environment' => 'production', 'app_version' => '1.4.0', 'tags' => ['php'],
        ]),
        'ignore_errors' => true,
    ]])), "\n";
});

function insert(string $sku): void
{
    throw new RuntimeException("Duplicate entry '$sku' for key 'products.sku'");
}

insert($argv[1]);
