S My brother live in a small village since three years .
A 2 3|||VERB:SVA|||has lived|||REQUIRED|||-NONE-|||0
A 7 8|||PREP|||for|||REQUIRED|||-NONE-|||0
A 2 3|||VERB:SVA|||has been living|||REQUIRED|||-NONE-|||1
A 7 8|||PREP|||for|||REQUIRED|||-NONE-|||1

S Yesterday I have bought a bread at the new bakery .
A 2 4|||VERB:TENSE|||bought|||REQUIRED|||-NONE-|||0
A 4 6|||DET|||some bread|||REQUIRED|||-NONE-|||0
A 2 4|||VERB:TENSE|||bought|||REQUIRED|||-NONE-|||1
A 4 6|||DET|||a loaf of bread|||REQUIRED|||-NONE-|||1

S She explained me the way to the station very good .
A 1 3|||PREP|||explained to me|||REQUIRED|||-NONE-|||0
A 9 10|||ADV|||well|||REQUIRED|||-NONE-|||0
A 1 5|||WO|||explained the way|||REQUIRED|||-NONE-|||1
A 5 10|||WO|||to the station to me very well|||REQUIRED|||-NONE-|||1

S There is many reasons why people moves to the city .
A 1 2|||VERB:SVA|||are|||REQUIRED|||-NONE-|||0
A 6 7|||VERB:SVA|||move|||REQUIRED|||-NONE-|||0
A 1 2|||VERB:SVA|||are|||REQUIRED|||-NONE-|||1
A 6 7|||VERB:SVA|||move|||REQUIRED|||-NONE-|||1

S If it will rain tomorrow , we stay at home .
A 2 4|||VERB:TENSE|||rains|||REQUIRED|||-NONE-|||0
A 7 8|||VERB:TENSE|||will stay|||REQUIRED|||-NONE-|||0
A 2 4|||VERB:TENSE|||rains|||REQUIRED|||-NONE-|||1

S The informations on this page are not correct .
A 1 2|||NOUN:NUM|||information|||REQUIRED|||-NONE-|||0
A 5 6|||VERB:SVA|||is|||REQUIRED|||-NONE-|||0
A 1 2|||NOUN:NUM|||information|||REQUIRED|||-NONE-|||1
A 5 8|||OTHER|||is wrong|||REQUIRED|||-NONE-|||1

S He is more taller than his father and eats enormous .
A 2 4|||ADJ:FORM|||taller|||REQUIRED|||-NONE-|||0
A 9 10|||ADV|||enormously|||REQUIRED|||-NONE-|||0
A 2 4|||ADJ:FORM|||taller|||REQUIRED|||-NONE-|||1
A 9 10|||OTHER|||a lot|||REQUIRED|||-NONE-|||1

S We are looking forward to see you in our house .
A 5 6|||VERB:FORM|||seeing|||REQUIRED|||-NONE-|||0
A 5 6|||VERB:FORM|||seeing|||REQUIRED|||-NONE-|||1
A 7 8|||PREP|||at|||REQUIRED|||-NONE-|||1

S The film was so boring that I have fallen asleep .
A 7 9|||VERB:TENSE|||fell|||REQUIRED|||-NONE-|||0
A 7 9|||VERB:TENSE|||fell|||REQUIRED|||-NONE-|||1

S Can you borrow me your umbrella until Monday ?
A 2 3|||WORD|||lend|||REQUIRED|||-NONE-|||0
A 2 3|||WORD|||lend|||REQUIRED|||-NONE-|||1
A 6 7|||PREP|||till|||REQUIRED|||-NONE-|||1

S The children played in the garden after lunch .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S It depends of the weather if we can to swim .
A 2 3|||PREP|||on|||REQUIRED|||-NONE-|||0
A 5 6|||CONJ|||whether|||REQUIRED|||-NONE-|||0
A 8 10|||VERB:FORM|||swim|||REQUIRED|||-NONE-|||0
A 2 3|||PREP|||on|||REQUIRED|||-NONE-|||1
A 8 10|||VERB:FORM|||swim|||REQUIRED|||-NONE-|||1

