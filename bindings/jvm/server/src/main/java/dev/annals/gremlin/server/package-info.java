/** Gremlin Server on a repository of Annals: who may connect, and what a request may do. */
package dev.annals.gremlin.server;
