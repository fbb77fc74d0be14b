S He eat a apple .
A 1 2|||Vform|||eats|||REQUIRED|||-NONE-|||0
A 2 3|||ArtOrDet|||an||the|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||2

S All is well .

S They they go  home
A 1 2|||Dup||||||REQUIRED|||twice|||1
A 4 4|||Mec|||.|||OPTIONAL|||-NONE-|||1
A 2 3|||Um|||-NONE-|||REQUIRED|||-NONE-|||0
