// Starts Swagger UI on our schema. A file of its own, because the CSP allows no inline script.
const csrfToken = () => document.cookie.match(/(?:^|; )(?:__Host-)?csrftoken=([^;]*)/)?.[1] ?? "";

window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  persistAuthorization: false,
  requestInterceptor: (request) => {
    request.headers["X-CSRFToken"] = csrfToken();
    return request;
  },
});
